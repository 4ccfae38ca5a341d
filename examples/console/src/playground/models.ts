import type { GatewaySchemas } from '@turnpike/client'
import { matches, usd } from '@turnpike/ui'
import type { Body } from './request.js'

export type Model = GatewaySchemas['ModelInfo']

/** Why a model cannot be chosen; undefined where it can. */
export function unfit({ capabilities }: Model): string | undefined {
  if (capabilities.length === 0 || capabilities.includes('chat')) return undefined
  const makes = { images: 'pictures', speech: 'speech', transcription: 'transcripts', embeddings: 'vectors' }
  const [made] = Object.entries(makes).find(([name]) => capabilities.includes(name as 'images')) ?? []
  return made === undefined ? 'Not for chat' : `Not for chat: makes ${makes[made as keyof typeof makes]}`
}

const abilities = [
  ['tools', 'tools'],
  ['vision', 'pictures'],
  ['json_schema', 'JSON'],
  ['reasoning', 'thinks'],
] as const

const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

/** What is to be known of a model to choose it: `128K context · $0.15 in, $0.60 out per million · tools, pictures`. */
export function factsOf({ capabilities, members, context_window: context, price }: Model): string {
  const can = abilities.filter(([name]) => capabilities.includes(name)).map(([, word]) => word)
  return [
    members && `${members.length === 1 ? '1 model' : `${members.length} models`}: ${members.join(', ')}`,
    context !== undefined && `${short.format(context)} context`,
    price?.input !== undefined &&
      price.output !== undefined &&
      `${usd(price.input)} in, ${usd(price.output)} out per million`,
    can.join(', '),
  ]
    .filter(Boolean)
    .join(' · ')
}

/** The models of a list by what offers them: groups, whose owner is the gateway, then providers. */
export function sections(models: readonly Model[], wanted: string): [string, Model[]][] {
  const by = new Map<string, Model[]>()
  for (const model of models) {
    const name = model.members && model.owned_by === 'turnpike' ? 'Groups' : model.provider
    if (!matches(wanted, [model.id, name])) continue
    by.set(name, [...(by.get(name) ?? []), model])
  }
  return [...by]
}

/** What a request has that a model is not listed with, in a sentence; undefined where it has all, or nothing is known of it. */
export function lacks(model: Model | undefined, body: Body): string | undefined {
  if (!model || model.capabilities.length === 0) return undefined
  const has = (name: Model['capabilities'][number]): boolean => model.capabilities.includes(name)
  const hasPictures = body.messages.some(
    ({ content }) => Array.isArray(content) && content.some(({ type }) => type === 'image_url'),
  )
  const lacking = [
    ...(body.tools && !has('tools') ? ['tools'] : []),
    ...(hasPictures && !has('vision') ? ['pictures'] : []),
    ...(body['response_format'] && !has('json_schema') ? ['JSON answers'] : []),
    ...(body['reasoning_effort'] && !has('reasoning') ? ['a reasoning effort'] : []),
  ]
  return lacking.length === 0 ? undefined : `This model is not listed with ${lacking.join(' or ')}.`
}
