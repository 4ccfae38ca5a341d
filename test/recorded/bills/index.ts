import * as anthropic from './anthropic.js'
import type { Bill, Listed, Refilled } from './bill.js'
import * as google from './google.js'
import * as openai from './openai.js'

/** Of each recording that uses anything. */
export const bills: Record<string, Bill> = { ...anthropic.bills, ...google.bills, ...openai.bills }

export const refilled: Refilled[] = [...anthropic.refilled, ...google.refilled, ...openai.refilled]

export const listed: Listed[] = [...anthropic.listed, ...google.listed, ...openai.listed]
