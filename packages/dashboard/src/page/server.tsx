import {
  Ago,
  bytes,
  Code,
  count,
  Empty,
  Facts,
  Figure,
  Loaded,
  Notice,
  Page,
  Panel,
  Status,
  useData,
} from '@turnpike/ui'
import type { PricingAnswer, ProvidersAnswer, ServerAnswer } from './answers.js'
import { read, send } from './api.js'
import { readIfThere } from './if-there.js'

const writers = {
  'one-process': 'one process',
  'one-host': 'processes of one machine',
  'many-hosts': 'processes of many machines',
} as const

/** What is kept of an answered write, in words. */
const durabilities = {
  none: 'nothing: all is lost when the process ends',
  'process-crash': 'a crash of the process',
  'power-loss': 'a power failure',
  'engine-configured': 'what the engine is configured for',
  unknown: 'the driver does not say',
} as const

async function readServer(signal: AbortSignal) {
  const [server, health, { providers }, { models }] = await Promise.all([
    readIfThere<ServerAnswer>('server', signal),
    send('health', { signal }).then(
      (response) => response.json() as Promise<{ version: string }>,
      // It is not ready, and says so by its status.
      () => undefined,
    ),
    read<ProvidersAnswer>('providers', signal),
    read<PricingAnswer>('pricing', signal),
  ])
  return { server, version: health?.version, providers: providers.length, models: models.length }
}

function Store({ of: { driver, writers: who, durability, ok, reason, warnings = [] } }: { of: ServerAnswer['store'] }) {
  return (
    <Panel title="Store">
      <div class="body stack">
        <Facts
          facts={[
            ['State', <Status tone={ok ? 'good' : 'bad'}>{ok ? 'healthy' : (reason ?? 'cannot be reached')}</Status>],
            ['Engine', driver],
            ['Written by', writers[who]],
            ['Survives', durabilities[durability]],
          ]}
        />
        {durability === 'none' && (
          <Notice tone="warn">
            <p>Users, keys and usage are in memory only. Set STORAGE to keep them.</p>
          </Notice>
        )}
        {warnings.map((warning) => (
          <Notice key={warning} tone="warn">
            <p class="break">{warning}</p>
          </Notice>
        ))}
      </div>
    </Panel>
  )
}

/** The settings in force, a panel for each section. */
const Configuration = ({ of }: { of: ServerAnswer['configuration'] }) => (
  <Panel title="Configuration in force">
    <div class="body stack">
      <p class="small muted">Secrets are shown as “…”. Providers have a page of their own.</p>
      <Code text={JSON.stringify(of, null, 2)} label="Configuration" />
    </div>
  </Panel>
)

/** The process that answers: what it runs on, its store and its settings. */
export function Server() {
  const data = useData(readServer, [], 10_000)
  return (
    <Page
      title="Server"
      actions={
        <>
          <a class="button" href="./metrics">
            Metrics
          </a>
          <a class="button" href="./docs">
            API
          </a>
        </>
      }
    >
      <Loaded data={data}>
        {({ server, version, providers, models }) => (
          <>
            <dl class="figures">
              <Figure name="API version" value={version ?? 'unknown'} detail={server?.runtime} />
              {server && (
                <>
                  <Figure
                    name="Started"
                    value={new Date(server.started_at).toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })}
                    detail={<Ago at={server.started_at} />}
                  />
                  <Figure
                    name="Memory"
                    value={bytes(server.memory.resident)}
                    detail={`${bytes(server.memory.heap)} of heap`}
                  />
                  <Figure name="Users" value={count(server.users)} detail="without the deleted ones" />
                </>
              )}
              <Figure name="Providers" value={count(providers)} detail={`${count(models)} models`} />
            </dl>
            {server ? (
              <>
                <div class="columns">
                  <Store of={server.store} />
                  <Panel title="Process">
                    <div class="body">
                      <Facts
                        facts={[
                          ['Runtime', server.runtime],
                          ['Machine', server.platform],
                          ['Process', <span class="mono">{server.pid}</span>],
                        ]}
                      />
                    </div>
                  </Panel>
                </div>
                <Configuration of={server.configuration} />
              </>
            ) : (
              <Panel title="Configuration">
                <Empty title="The program that runs this gateway has its configuration" />
              </Panel>
            )}
          </>
        )}
      </Loaded>
    </Page>
  )
}
