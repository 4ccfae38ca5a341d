/** Tokens in a text, which is the limit that it tells; not characters or bytes. */
const LIMIT = String.raw`\(?(?<limit>\d[\d,]{0,12})(?![\d,]{0,12} (?:char|byte|[km]b))`

/**
 * How vendors and compatible servers say that a prompt is longer than the model's context, by itself or with the answer that was asked for. The
 * first that tells a limit is taken, so those with one stand first. Sources: the vendors' references, the servers' sources, and recorded errors.
 */
const wordings = [
  // OpenAI, Azure, DeepSeek, OpenRouter, Llama on Bedrock, and vLLM ("context length is only"); SGLang, Together ("of", "("); Fireworks (":");
  // llama.cpp ("context size ("); Cloudflare ("context window limit ("); LM Studio ("context length of only").
  `context (?:length|size|window)(?: limit)?(?: is| of|:)?(?: only)? ?${LIMIT}`,
  // Mistral: "too large for model with 32768 maximum context length".
  `${LIMIT} maximum context length`,
  // Claude, with `max_tokens`, and by itself.
  String.raw`exceed context limit: [\d +,]{1,40}> ${LIMIT}`,
  String.raw`too long: [\d,]+ tokens > ${LIMIT} maximum`,
  // xAI ("maximum prompt length is"), vLLM ("maximum model length of").
  `maximum (?:prompt|model) length(?: is| of)? ?${LIMIT}`,
  // vLLM, SGLang, TensorRT-LLM, TabbyAPI, LMDeploy: "max_seq_len 8192", "the session_len (8192)". With "=", of an answer that is too long.
  `(?:max_(?:seq_len|num_tokens|model_len)|session_len) ?${LIMIT}`,
  // Gemini, GPT-5, Copilot, Databricks, watsonx, Poolside, DeepInfra, Qwen, Doubao, Hunyuan, Perplexity, Jamba: "the input tokens exceed the limit 8192".
  String.raw`(?:prompt|input|request|message)s?(?: has)? \(?[\d,]{0,13} ?(?:token|length)[\w ,()]{0,30}?exceed[^.;\n\d]{0,45}${LIMIT}`,
  // Vertex AI; Kimi; Qwen.
  `input token count.*?supports up to ${LIMIT}`,
  `model token limit ?: ?${LIMIT}`,
  String.raw`input length should be \[\d+, ?${LIMIT}`,
  // TGI and its embeddings.
  '`inputs`.*?(?:<=|less than) ' + LIMIT,
  // Cohere; Titan and Cohere on Bedrock; Cerebras; GitHub Models; Jina.
  `too many tokens: .*?(?:cannot exceed|limit for this model is) ${LIMIT}`,
  `max input tokens: ${LIMIT}`,
  String.raw`current length is [\d,]+ while limit is ${LIMIT}`,
  `max size: ${LIMIT} tokens`,
  `text cannot exceed ${LIMIT} token`,
  // Those that tell no limit: OpenAI's Responses, Ollama, MiniMax, LM Studio, Novita, Writer; and the codes of OpenAI, llama.cpp, LiteLLM and Novita.
  'exceed.{0,40}context[ _]?(?:length|window|size|limit)',
  'prompt length.{0,20} exceeds.{0,10} context',
  '(?:greater|longer) than .{0,20}context (?:length|window|size)',
  '(?:context[ _]?(?:length|window|size|limit)|token limit)[ _]?(?:was |is |has been )?exceed',
  // The codes of Copilot, GitHub Models and watsonx.
  'max_prompt_tokens_exceeded|tokens_limit_reached|token_quantity_exceeded',
  // Bedrock, Kimi, Baidu, Spark; GLM (code 1261); servers in Chinese.
  String.raw`\b(?:prompt|inputs?|messages?|token total)(?: tokens?)?(?: length)? (?:is |are )?too long`,
  'prompt (?:exceeds max length|超长)|(?:输入(?:内容|长度|的?token)|上下文).{0,4}超',
  // Nova and Titan on Bedrock; Volcengine; AI21 and others, but not for the tokens of the answer (Cohere: "too many tokens: max tokens must be …").
  String.raw`number of input tokens exceeds maximum|expected maxlength: \d{4}|exceed max message tokens`,
  'too many (?:input )?tokens(?!: max)',
  // Groq.
  'reduce the length of (?:the|your) (?:input )?(?:messages|prompt)',
  // The embeddings of llama.cpp; vLLM, whose prompt leaves no room for an answer.
  'is too large to process|max_tokens must be at least 1, got -',
  // OpenAI, for a text of more than 10 million characters; ids and names that are too long have other fields.
  "(?:content|text)'?: string too long",
].map((wording) => new RegExp(wording, 'i'))

/** Statuses of other refusals, whose texts may speak of tokens as well: "Too many tokens, please wait". */
const others = [401, 402, 403, 429, 503, 529]

/** Characters that are read of a text. */
const READ = 2_000

/**
 * Whether an error says that the prompt is longer than the model's context, and the limit in tokens where it tells one.
 * @param names codes and types of the error
 */
export function contextExceeded(
  status: number,
  text: string,
  names: unknown[],
): { limit: number | undefined } | undefined {
  if (others.includes(status)) return undefined
  const read = [...names, text].join('\n').slice(0, READ)
  const told = wordings.map((wording) => wording.exec(read)).find((match) => match !== null)
  if (!told) return undefined
  const limit = Number(told?.groups?.['limit']?.replaceAll(',', ''))
  return { limit: limit > 0 ? limit : undefined }
}
