import type { Schemas } from '@turnpike/client'
import type { Column, Data } from '@turnpike/ui'
import { Loaded, Panel, Table } from '@turnpike/ui'
import { teamName } from './project-form.js'
import type { Agent } from './tasks.js'

const columns: Column<Agent>[] = [
  { name: 'Agent', cell: ({ name }) => name },
  { name: 'Role', cell: ({ role }) => role },
  {
    name: 'Model',
    cell: ({ model }) => model ?? <span class="muted">the server’s for agents</span>,
  },
]

/** The team of a project and its agents. */
export const Team = ({ data }: { data: Data<Schemas['Team']> }) => (
  <Loaded data={data}>
    {({ type, agents }) => (
      <Panel title={teamName(type)}>
        <Table caption="Agents" columns={columns} rows={agents} rowKey={({ id }) => String(id)} />
      </Panel>
    )}
  </Loaded>
)
