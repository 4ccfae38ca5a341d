import type { Case } from '../case.js'
import { suites } from '../case.js'
import { faultCases } from './faults.js'
import { modelCases } from './models.js'
import { roundCases } from './models-rounds.js'
import { serverCases } from './servers.js'
import { serverRefusalCases } from './servers-refusals.js'
import { specificationCases } from './specification.js'
import { streamCases } from './streams.js'
import { vendorStreamCases } from './streams-vendor.js'
import { answerCases } from './translation-answers.js'
import { vendorAnswerCases } from './translation-answers-vendor.js'
import { callCases } from './translation-calls.js'
import { messageCases } from './translation-messages.js'
import { parameterCases } from './translation-parameters.js'
import { toolCases } from './translation-tools.js'

/** All cases, suite by suite. */
export const cases: readonly Case[] = [
  ...messageCases,
  ...parameterCases,
  ...toolCases,
  ...callCases,
  ...answerCases,
  ...vendorAnswerCases,
  ...streamCases,
  ...vendorStreamCases,
  ...faultCases,
  ...specificationCases,
  ...modelCases,
  ...roundCases,
  ...serverCases,
  ...serverRefusalCases,
].toSorted((a, b) => suites.indexOf(a.suite) - suites.indexOf(b.suite))
