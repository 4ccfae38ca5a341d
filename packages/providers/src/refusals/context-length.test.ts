import { describe, expect, it } from 'vitest'
import { contextExceeded } from './context-length.js'

/** What each vendor or server says, and the limit that it tells. */
const told: [of: string, text: string, limit: number | undefined][] = [
  [
    'OpenAI',
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 140010 tokens.",
    128_000,
  ],
  ['OpenAI, embeddings', "Invalid 'input': maximum context length is 8192 tokens.", 8192],
  [
    'GPT-5 and Azure',
    'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 509178 tokens.',
    272_000,
  ],
  [
    'OpenAI, Responses',
    'Your input exceeds the context window of this model. Please adjust your input and try again.',
    undefined,
  ],
  [
    'OpenAI, characters',
    "Invalid 'messages[1].content': string too long. Expected a string with maximum length 10485760, but got 10485761.",
    undefined,
  ],
  [
    'vLLM',
    "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 32768 tokens and your request has 29000 input tokens (4096 > 32768 - 29000).",
    32_768,
  ],
  [
    'vLLM 0.12',
    "You passed 98305 input tokens and requested 32768 output tokens. However, the model's context length is only 131072 tokens, resulting in a maximum input length of 98304 tokens.",
    131_072,
  ],
  ['vLLM, prompts of ids', 'The decoder prompt (length 5951) is longer than the maximum model length of 4096.', 4096],
  ['vLLM, pictures', 'The prompt (total length 25938) is too long to fit into the model (context length 4096).', 4096],
  ['vLLM, embeddings', 'The engine prompt length 1000 exceeds the max_model_len 900. Please reduce prompt.', 900],
  ['SGLang', "The input (210000 tokens) is longer than the model's context length (200000 tokens).", 200_000],
  [
    'SGLang, with max_tokens',
    "Requested token count exceeds the model's maximum context length of 131072 tokens.",
    131_072,
  ],
  ['SGLang, rerank', 'Input length (5000 tokens) exceeds the maximum allowed length (4096 tokens).', 4096],
  ['llama.cpp', 'request (13392 tokens) exceeds the available context size (8192 tokens), try increasing it', 8192],
  ['llama.cpp before', 'the request exceeds the available context size, try increasing it', undefined],
  [
    'llama.cpp, embeddings',
    'input (900 tokens) is too large to process. increase the physical batch size (current batch size: 512)',
    undefined,
  ],
  [
    'TGI',
    'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and 1000 `max_new_tokens`',
    4096,
  ],
  ['TGI, embeddings', '`inputs` must have less than 512 tokens. Given: 800', 512],
  ['Ollama', 'prompt too long; exceeded max context length by 1200 tokens', undefined],
  ['Ollama, embeddings', 'the input length exceeds the context length', undefined],
  ['Ollama, cloud', 'The prompt is too long: 262960, model maximum context length: 262144', 262_144],
  [
    'LM Studio',
    'The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger one.',
    undefined,
  ],
  [
    'LM Studio, later',
    'Trying to keep the first 6000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens.',
    4096,
  ],
  [
    'Mistral',
    'Prompt contains 170397 tokens and 0 draft tokens, too large for model with 131072 maximum context length',
    131_072,
  ],
  [
    'DeepSeek',
    "This model's maximum context length is 1048565 tokens. However, you requested 1179668 tokens (1179652 in the messages, 16 in the completion).",
    1_048_565,
  ],
  ['Kimi', 'Invalid request: Your request exceeded model token limit: 262144 (requested: 291351)', 262_144],
  ['Kimi before', 'Input token length too long', undefined],
  ['GLM', 'Prompt exceeds max length', undefined],
  ['GLM, in Chinese', 'Prompt 超长', undefined],
  ['Qwen', '<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 983616]', 983_616],
  ['Groq', 'Please reduce the length of the messages or completion.', undefined],
  [
    'OpenRouter',
    "This endpoint's maximum context length is 131072 tokens. However, you requested about 132463 tokens.",
    131_072,
  ],
  ['Together', "The input (5000 tokens) is longer than the model's context length (4096 tokens).", 4096],
  ['Novita', "The input is longer than the model's context length.", undefined],
  ['Fireworks', 'The prompt is too long: 140000, model maximum context length: 131071', 131_071],
  ['xAI', "This model's maximum prompt length is 131072 but the request contains 537812 tokens.", 131_072],
  ['Cohere', 'too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4292.', 4081],
  [
    'Cohere, chat',
    'too many tokens: size limit exceeded by 100 tokens. Try using shorter or fewer inputs. The limit for this model is 128000 tokens.',
    128_000,
  ],
  ['Claude', 'prompt is too long: 212441 tokens > 200000 maximum', 200_000],
  [
    'Claude, with max_tokens',
    'input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length',
    200_000,
  ],
  ['Gemini', 'The input token count (1048580) exceeds the maximum number of tokens allowed (1048576).', 1_048_576],
  ['Gemini, later', 'The input token count exceeds the maximum number of tokens allowed 65536.', 65_536],
  [
    'Vertex AI',
    'Unable to submit request because the input token count is 131335 but model only supports up to 131072. Reduce it.',
    131_072,
  ],
  ['Bedrock', 'Input is too long for requested model.', undefined],
  [
    'Bedrock, Nova',
    'Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input to try again.',
    undefined,
  ],
  [
    'Bedrock, Titan',
    '400 Bad Request: Too many input tokens. Max input tokens: 8192, request input token count: 9279',
    8192,
  ],
  [
    'Cerebras',
    'Please reduce the length of the messages or completion. Current length is 8193 while limit is 8192',
    8192,
  ],
  [
    'Cloudflare',
    'The estimated number of input and maximum output tokens (25000) exceeded this model context window limit (24000).',
    24_000,
  ],
  ['MiniMax', 'invalid params, context window exceeds limit (2013)', undefined],
  ['Copilot', 'prompt token count of 9,000 exceeds the limit of 8,192', 8192],
  ['GitHub Models', 'Request body too large for gpt-4o model. Max size: 8000 tokens.', 8000],
  ['SiliconFlow', 'length of prompt_tokens (34525) must be less than max_seq_len (32768).', 32_768],
  ['Volcengine', 'Total tokens of image and text exceed max message tokens', undefined],
  ['DeepInfra', 'Requested input length 140000 exceeds maximum input length 131072', 131_072],
  ['Poolside', 'Input length 131393 exceeds the maximum allowed input length of 131,040 tokens.', 131_040],
  ['Baidu', 'Prompt tokens too long', undefined],
  ['llama.cpp, while it answers', 'Context size has been exceeded.', undefined],
  [
    'watsonx',
    "Invalid input argument for Model 'x': the number of input tokens 9000 cannot exceed the total tokens limit 8192 for this model",
    8192,
  ],
  [
    'TensorRT-LLM',
    'The sum of prompt length (72417.0), query length (0) should not exceed max_num_tokens (69632)',
    69_632,
  ],
  [
    'TensorRT-LLM, with max_tokens',
    'default_max_tokens (-10) should be greater than 0, default_max_tokens = max_seq_len (4096) - splited_prompt_len (5000)',
    4096,
  ],
  ['LiteLLM', 'litellm.ContextWindowExceededError: litellm.BadRequestError: No', undefined],
  [
    'Databricks',
    'Bad request: prompt token count (9000) cannot exceed 8192. Total tokens used: 9000 (input: 8800, max tokens: 200)',
    8192,
  ],
  ['TabbyAPI', 'Prompt length 9000 is greater than max_seq_len 8192', 8192],
  ['ooba', 'Prompt length (9000) exceeds context (8192)', 8192],
  ['LMDeploy', 'The request length exceeds the session_len (8192)', 8192],
  ['Qwen, tokens', 'Input length exceeds the limit of 30720 tokens', 30_720],
  ['Doubao', 'Input length 300000 exceeds the maximum length 229376.', 229_376],
  ['Doubao, messages', 'Total message token length exceed model limit (131072 tokens).', 131_072],
  ['Hunyuan', 'the input tokens exceeds the model max input length, limit 28000', 28_000],
  ['Perplexity', 'User input tokens exceeds limit 127072', 127_072],
  ['servers in Chinese', '输入内容超过最大长度限制', undefined],
  ['servers in Chinese', '请求的上下文长度超过模型支持的最大上下文长度 32768', undefined],
  ['servers in Chinese', '输入长度超过模型上下文窗口', undefined],
  ['servers in Chinese', '输入的token数量超过限制', undefined],
  ['Spark', 'tokens over the limit: input tokens(9000) exceed limit (8192)', 8192],
  ['Spark', 'token total too long', undefined],
  ['Jamba', 'Prompt has 300000 tokens, which exceeds the maximum of 256000', 256_000],
  ['Jina', 'Single text cannot exceed 8194 tokens. 9000 tokens given.', 8194],
  ['Titan, characters', 'Malformed input request: expected maxLength: 50000, actual: 60000', undefined],
  ['vLLM, without room', 'max_tokens must be at least 1, got -173.', undefined],
  ['Writer', 'Prompt length exceeds model context', undefined],
]

describe('a prompt over the context', () => {
  it.each(told)('is known by the words of %s', (_, text, limit) =>
    expect(contextExceeded(400, text, [])).toEqual({ limit }),
  )

  it.each([
    'context_length_exceeded',
    'CONTEXT_LENGTH_EXCEEDED',
    'exceed_context_size_error',
    'model_max_prompt_tokens_exceeded',
    'tokens_limit_reached',
    'token_quantity_exceeded',
  ])('is known by %s', (name) => expect(contextExceeded(400, 'No', [undefined, name])).toEqual({ limit: undefined }))

  it.each([
    'max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4',
    'max_tokens is too large: 100000. This model supports at most 4096 completion tokens, whereas you provided 100000.',
    'Range of max_tokens should be [1, 8192]',
    'too many tokens: max tokens must be less than or equal to 4096, the maximum output for this model',
    'Unable to submit request because it has a maxOutputTokens value of 100000 but the supported range is from 1 to 8193.',
    "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got 64.",
    "Invalid 'prompt_cache_key': string too long. Expected a string with maximum length 64.",
    'input: text exceeds the maximum allowed length of 4096 characters',
    'messages: text content blocks must be non-empty',
    'image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes',
    'Request payload size exceeds the limit: 20971520 bytes.',
    'Request length exceeds the limit: 20971520 bytes.',
    'Input length exceeds 4096 characters',
    'The request max_tokens exceeds the limit of 8192',
    'max_tokens=9000 cannot be greater than max_model_len=8192. Please request fewer output tokens.',
    'max_tokens must be at least 1, got 0.',
    'The number of images in the prompt exceeds the limit of 5',
    'The requested output tokens exceed the limit of 8192',
    'Malformed input request: #/messages/0/name: expected maxLength: 64, actual: 70',
    '输入图片数量超过限制',
  ])('is not what %j says', (text) => expect(contextExceeded(400, text, [])).toBeUndefined())

  it.each([429, 402, 503])('is not what a %i says', (status) => {
    expect(contextExceeded(status, 'Too many tokens, please wait before trying again.', [])).toBeUndefined()
  })
})
