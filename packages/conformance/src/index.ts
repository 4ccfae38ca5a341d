/** Tests any OpenAI-compatible gateway against scripted upstreams. @module */
export type { Suite } from './case.js'
export type { FamilyName } from './families/family.js'
export type { ItemResult, PlatformTarget } from './platform.js'
export { runChecklist } from './platform.js'
export type { ConformanceOptions, Report, Result } from './run.js'
export { ConformanceError, runConformance } from './run.js'
export { checklistScorecard, scorecard } from './scorecard.js'
