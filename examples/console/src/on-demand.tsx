import { Loaded, useData } from '@turnpike/ui'
import type { ComponentType } from 'preact'

/** A page whose script is loaded when it is first opened, so that the first view does not wait for it. */
export const onDemand = (load: () => Promise<ComponentType>): ComponentType =>
  function OnDemand() {
    return <Loaded data={useData(load, [])}>{(Loaded) => <Loaded />}</Loaded>
  }
