// What stands for the stores and programs that the tests of test/platform start: there are none.
const absent = { isMissing: true }
export const engines = ['fs', 'redis', 'postgres'].map((name) => ({ name, needed: [absent] }))
export const programs = { redis: absent, chromium: absent, versitygw: absent }
export const testAll = absent
export const needs = (...all: object[]): { skip: boolean } => ({ skip: all.length > 0 })
export const endEngines = (): void => undefined
export {
  startWorld as newFolder,
  startWorld as Redis,
  startWorld as s3Server,
  startWorld as untilEnd,
} from './world.js'
