/** Tokens in a text, which is the limit that it tells; not characters. */
const LIMIT = String.raw`\(?(?<limit>\d[\d,]{0,12})(?![\d,]{0,12} char)`

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
  // xAI ("maximum prompt length is"), vLLM ("maximum model length of", "max_model_len 900"), Poolside and SGLang ("maximum allowed input length of").
  `max(?:imum)?[ _](?:allowed |prompt |input |model[ _]){1,2}len(?:gth)?(?: is| of)? ?${LIMIT}`,
  // Gemini; Vertex AI; Copilot.
  `input token count.*?(?:allowed|supports up to) ${LIMIT}`,
  String.raw`prompt token count of [\d,]+ exceeds the limit of ${LIMIT}`,
  // Kimi; GPT-5; Qwen.
  `model token limit ?: ?${LIMIT}`,
  `input tokens exceed the configured limit of ${LIMIT}`,
  String.raw`input length should be \[\d+, ?${LIMIT}`,
  // TGI and its embeddings; SiliconFlow.
  '`inputs`.*?(?:<=|less than) ' + LIMIT,
  `must be less than max_seq_len ${LIMIT}`,
  // Cohere; Titan and Cohere on Bedrock; Cerebras; GitHub Models.
  `too many tokens: .*?(?:cannot exceed|limit for this model is) ${LIMIT}`,
  `max input tokens: ${LIMIT}`,
  String.raw`current length is [\d,]+ while limit is ${LIMIT}`,
  `max size: ${LIMIT} tokens`,
  // watsonx, Qwen, Hunyuan, Perplexity, Spark, LMDeploy, TabbyAPI; Databricks; TensorRT-LLM; Jamba.
  String.raw`(?:prompt|input|request|message token)(?: length| tokens?)(?: ?\(?[\d,]{1,12}\)?)? (?:is greater than|exceeds?|cannot exceed)(?: the| model)?(?: total tokens)? (?:limit of|limit|maximum length|max_seq_len|session_len|context) ${LIMIT}`,
  String.raw`prompt token count \([\d,]+\) cannot exceed ${LIMIT}`,
  `should not exceed max_num_tokens ${LIMIT}`,
  String.raw`prompt has [\d,]+ tokens, which exceeds the maximum of ${LIMIT}`,
  // Those that tell no limit: OpenAI's Responses, Ollama, MiniMax, LM Studio, Novita.
  'exceed.{0,40}context (?:length|window|size|limit)',
  '(?:greater|longer) than .{0,20}context (?:length|window|size)',
  '(?:context (?:length|window|size|limit)|token limit) (?:was |is |has been )?exceed',
  // LiteLLM, by the name of its class.
  'ContextWindowExceeded',
  // Chinese servers.
  '(?:输入|上下文).{0,20}超过.{0,12}(?:长度|上下文|限制)',
  // Bedrock, Kimi, Baidu; GLM (code 1261).
  String.raw`\b(?:prompt|inputs?|messages?)(?: tokens?)?(?: length)? (?:is |are )?too long`,
  'prompt (?:exceeds max length|超长)',
  // Nova on Bedrock; Volcengine; AI21 and others, but not for the tokens of the answer (Cohere: "too many tokens: max tokens must be …").
  'number of input tokens exceeds maximum|exceed max message tokens',
  'too many (?:input )?tokens(?!: max)',
  // Groq.
  'reduce the length of (?:the|your) (?:input )?(?:messages|prompt)',
  // The embeddings of llama.cpp.
  'is too large to process',
  // OpenAI, for a text of more than 10 million characters; ids and names that are too long have other fields.
  "(?:content|text)'?: string too long",
].map((wording) => new RegExp(wording, 'i'))

/** The codes and types of such an error: of OpenAI, llama.cpp, Copilot and GitHub Models. */
const codes = [
  'context_length_exceeded',
  'exceed_context_size_error',
  'model_max_prompt_tokens_exceeded',
  'tokens_limit_reached',
]

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
  const read = text.slice(0, READ)
  const told = wordings.map((wording) => wording.exec(read)).find((match) => match !== null)
  if (!told && !names.some((name) => codes.includes(name as string))) return undefined
  const limit = Number(told?.groups?.['limit']?.replaceAll(',', ''))
  return { limit: limit > 0 ? limit : undefined }
}
