// What stands for the stores that the tests of test/platform start: there are none.
export const engines = ['fs', 'redis', 'postgres'].map((name) => ({ name, missing: true }))
export const missing = true
export const endEngines = (): void => undefined
export {
  startWorld as newFolder,
  startWorld as Redis,
  startWorld as s3Server,
  startWorld as untilEnd,
} from './world.js'
