import type { ComponentType } from 'preact'
import { useData } from '../use-data.js'
import { Loaded } from './loaded.js'

/** A component that is loaded when it is first shown, by an `import()` of its own. */
export const lazy = <Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> =>
  function Lazy(props: Props) {
    // In an object, because a component is a function.
    const data = useData(async () => ({ Component: await load() }), [])
    // A browser does not ask again for a script that it could not load, and after an update the server has others.
    return (
      <Loaded data={{ ...data, again: () => location.reload() }}>{({ Component }) => <Component {...props} />}</Loaded>
    )
  }
