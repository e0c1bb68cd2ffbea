import Database from 'better-sqlite3'
import { expect } from 'chai'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'

/** docs/DATABASE.md is made of the migrations and of the comments in them. */

const root = new URL('../../../', import.meta.url)
const PAGE = new URL('docs/DATABASE.md', root)

const HEAD = `# Databases

Made from \`data/migrations/\` by \`WRITE_DOCS=1 ./venue test dist/test/data/database-page.test.js\`. Each database is one SQLite file in \`DATA_DIR\` with
one writing process. \`data/open.ts\` opens it, sets and asserts WAL mode, foreign keys, the durability below and a known schema version
(\`PRAGMA user_version\` is the number of the last migration).

| file | written by | read by | durability | effect of a loss |
| - | - | - | - | - |
| \`history.db\` | \`projector\` | \`gateway\` and \`auditor\`, read-only | \`synchronous=NORMAL\` | marks, funding and close-outs older than the command log, liquidations older than their stream; the rest is rebuilt from the feeds and their archive: delete the file while projector and gateways are down, and start the projector |
| \`intake.db\` | \`order-intake\`, a thread of it for large batches | a backup, read-only | \`synchronous=FULL\` | it is rebuilt from logs and feeds, but for old orders that a market refused ([0040](decisions/0040-claims-from-the-log.md)); not while the register is lost ([BACKUP](BACKUP.md#the-register-of-markets-alone)) |
| \`executor.db\` | \`executor\` | \`auditor\`, read-only | \`synchronous=NORMAL\` | none: it is rebuilt from \`JOURNAL_executor\` ([0070](decisions/0070-the-stream-before-the-file.md)). If that is lost too, the executor does not start: see \`EXECUTOR_ACCEPT_NONCES\` |
| \`accounts.db\` | \`chain-reader\` | only the writer | \`synchronous=NORMAL\` | none: it is made again from the chain ([0082](decisions/0082-accounts-of-owners.md)) |
| \`deposits.db\`, \`withdrawals.db\` | \`deposit-submitter\`, \`withdrawal-submitter\` | only the writer | \`synchronous=FULL\` | none: the records are made from the claims in the journal, without \`permit_tx_hash\`; limits of requests and the gas of the last hour begin anew |
| \`keeper.db\` | \`keeper\` | only the writer | \`synchronous=NORMAL\` | the gas of the last hour, so that its budget begins anew |
| \`deposit-transactions.db\`, \`withdrawal-transactions.db\`, \`keeper-transactions.db\` | the same | only the writer | \`synchronous=NORMAL\` | none: rebuilt from \`JOURNAL_<process>\` |

Any of these files may be deleted with its \`-wal\` and \`-shm\` files while the processes that have it open are down
(\`test/e2e/samples.test.ts\` deletes each).

All tables are \`STRICT\`. Amounts, prices and fees are integers at 1e18 in decimal text, because they exceed 64 bits. Times are unix milliseconds
(\`_ms\`) or seconds (\`_sec\`). Keys ending in \`_key\` are log positions: \`seq\` × 65,536 + the market's ordinal. Addresses and hashes are bytes.

## What grows for ever

| file | grows with | stays, because |
| - | - | - |
| \`history.db\` | orders with a fill, trades, fills, candles, the events of these orders | filled orders and their trades are kept for ever (REA-030, REA-031) |
| \`intake.db\` | one row \`taken_order\` for each order that was ever placed | ids and nonces are taken for ever (ORD-017, ORD-018) |
| \`executor.db\`, \`*-transactions.db\` | intents, transactions and outcomes; signed bytes for 30 days after they are final | a repeated request is answered from the journal, and the audit compares every settlement with the chain |
| \`deposits.db\`, \`withdrawals.db\` | one record for each action | a repeated action is answered with its record |
| \`accounts.db\` | events of accounts in custody and of session keys, at most 1,000 of each of an owner | an owner is found by them |
| streams of the bus, \`FEED_ARCHIVE_DIR\` | [the table of streams](../bus-schemas/README.md#streams) | feeds are what a read model is rebuilt from |

A deleted row leaves its pages to later rows: a file does not shrink, and it stops growing.
`

const DATABASES: Readonly<Record<string, string>> = {
  accounts: 'accounts.db',
  history: 'history.db',
  intake: 'intake.db',
  journal:
    'executor.db, deposit-transactions.db, withdrawal-transactions.db, keeper-transactions.db',
  keeper: 'keeper.db',
  transfers: 'deposits.db, withdrawals.db',
}

interface Column {
  readonly name: string
  readonly type: string
  readonly text: string
}
interface Table {
  readonly name: string
  readonly text: string
  readonly columns: readonly Column[]
}

const sqlOf = (folder: string): string =>
  readdirSync(new URL(`data/migrations/${folder}/`, root))
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => readFileSync(new URL(`data/migrations/${folder}/${name}`, root), 'utf8'))
    .join('\n\n')

const COMMENT = /^\s*-- ?(.*)$/
const COLUMN = /^ {2}([a-z_]+) +(INTEGER|TEXT|BLOB)\b/

/** The tables of a schema, each with the comment above it; a column with the comment above, which holds up to the next one. */
function tablesIn(sql: string): Table[] {
  const tables: { name: string; text: string; columns: Column[] }[] = []
  let comment: string[] = []
  let open: (typeof tables)[number] | undefined
  for (const line of sql.split('\n')) {
    const [, said] = COMMENT.exec(line) ?? []
    const [, added, columns = ''] = /^ALTER TABLE (\w+) ADD COLUMN (.*);$/.exec(line) ?? []
    const [, created] = /^CREATE TABLE (\w+) \($/.exec(line) ?? []
    const [, name, type = ''] = COLUMN.exec(added === undefined ? line : `  ${columns}`) ?? []
    if (said !== undefined) {
      comment.push(said)
      continue
    }
    if (created !== undefined) {
      open = { name: created, text: comment.join(' '), columns: [] }
      tables.push(open)
    } else if (name !== undefined) {
      const table = added === undefined ? open : tables.find((each) => each.name === added)
      table?.columns.push({ name, type, text: comment.join(' ') })
    } else if (line.startsWith(')')) open = undefined
    comment = []
  }
  return tables
}

const firstComment = (sql: string): string => {
  const lines = sql.split('\n')
  const end = lines.findIndex((line) => !COMMENT.test(line))
  return (
    lines
      .slice(0, end)
      .map((line) => COMMENT.exec(line)?.[1] ?? '')
      .join('\n')
      .split('\n\n')[0] ?? ''
  )
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;')

function page(): string {
  const sections = Object.entries(DATABASES).map(([folder, files]) => {
    const sql = sqlOf(folder)
    const tables = tablesIn(sql).map(({ name, text, columns }) => {
      const rows = columns.map((each) => `| \`${each.name}\` | ${each.type} | ${cell(each.text)} |`)
      const head = '| column | type | meaning |\n| - | - | - |'
      return `### ${name}\n\n${cell(text)}\n\n${[head, ...rows].join('\n')}`
    })
    return [`## ${files}`, cell(firstComment(sql)), ...tables].join('\n\n')
  })
  return `${[HEAD.trimEnd(), ...sections].join('\n\n')}\n`
}

describe('docs/DATABASE.md', () => {
  for (const folder of Object.keys(DATABASES)) {
    it(`has every table and column of ${folder}, each table with a sentence`, () => {
      const db = new Database(':memory:')
      db.exec(sqlOf(folder))
      const names = db
        .prepare<[], string>(
          "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
        )
        .pluck()
        .all()
      const shown = new Map(tablesIn(sqlOf(folder)).map((table) => [table.name, table]))
      expect([...shown.keys()].sort()).to.deep.equal(names.toSorted())
      for (const [name, { text, columns }] of shown) {
        expect(text, `a comment above CREATE TABLE ${name}`).to.match(/^[A-Z].*\.$/)
        const real = db.prepare<[string], string>('SELECT name FROM pragma_table_info(?)').pluck()
        expect(columns.map((each) => each.name)).to.deep.equal(real.all(name))
      }
      db.close()
    })
  }

  it('is made of the migrations', () => {
    expect(Object.keys(DATABASES)).to.deep.equal(
      readdirSync(new URL('data/migrations/', root)).toSorted(),
    )
    if (process.env.WRITE_DOCS === '1') writeFileSync(PAGE, page())
    expect(readFileSync(PAGE, 'utf8')).to.equal(page())
  })
})
