import Sqlite from 'better-sqlite3'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { privateKeyToAccount } from 'viem/accounts'
import { transfersStream, transferSubject } from '../../../bus-schemas/subjects.js'
import { decodeTransferProgress } from '../../../bus-schemas/transfers.js'
import {
  createRestClient,
  createTransferClient,
  signFrame,
  type SignedFrame,
} from '../../../client/index.js'
import { inProject } from '../../../devnet/launcher/binaries.js'
import { startNatsServer } from '../../../devnet/launcher/nats-server.js'
import type { Bus } from '../../../runtime/bus/bus.js'
import { connectNatsBus } from '../../../runtime/bus/nats-bus.js'
import { natsServerBinary } from '../../support/config.js'
import { freePort } from '../../support/free-port.js'
import type { Devnet } from '../../support/venue.js'
import { SPOT } from './trader.js'

/**
 * A sample is the data directory of a venue as texts: the messages of its streams, its databases as SQL, and the state of
 * its chain (compressed). `manifest.json` says what release recorded it, `answers.json` what it answered.
 */
export const SAMPLES = inProject('test/samples')

export interface SampleStream {
  readonly stream: string
  readonly subject: string
  /** The version recorded with the stream. */
  readonly version: number
}

export interface Manifest {
  /** The version in package.json. */
  readonly release: string
  readonly recordedAt: string
  readonly streams: readonly SampleStream[]
  /** The seconds of its trades, for candles: RFC 3339. */
  readonly start: string
  readonly end: string
  /** Action hashes. */
  readonly deposits: readonly string[]
  readonly withdrawals: readonly string[]
}

/** Files of a data directory that are kept as they are. The keys are those of a development chain. */
const KEPT = ['deployment.json', 'keys.json', 'markets.json'] as const
const CHAIN = 'chain-state.json'
/** Devnet accounts that trade in the sample. */
const OWNERS = [0, 1, 2] as const
const STOP_GRACE_MS = 5_000

export const readManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Manifest

/** Writes everything of a stopped venue but its streams. Replaces what the folder holds. */
export function writeFiles(dataDir: string, folder: string): void {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(join(folder, 'streams'), { recursive: true })
  for (const name of KEPT)
    writeFileSync(join(folder, name), readFileSync(join(dataDir, name)), { mode: 0o644 })
  writeFileSync(
    join(folder, `${CHAIN}.gz`),
    gzipSync(readFileSync(join(dataDir, CHAIN)), { level: 9 }),
  )
  for (const name of databasesOf(dataDir, '.db'))
    writeFileSync(join(folder, `${name}.sql`), dumpOf(join(dataDir, `${name}.db`)))
}

/** The inverse of writeFiles, into an empty directory. */
export function restoreFiles(folder: string, dataDir: string): void {
  for (const name of KEPT) writeFileSync(join(dataDir, name), readFileSync(join(folder, name)))
  writeFileSync(join(dataDir, CHAIN), gunzipSync(readFileSync(join(folder, `${CHAIN}.gz`))))
  for (const name of databasesOf(folder, '.sql')) {
    const db = new Sqlite(join(dataDir, `${name}.db`))
    db.exec(readFileSync(join(folder, `${name}.sql`), 'utf8'))
    db.close()
  }
}

const databasesOf = (folder: string, ending: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith(ending))
    .map((name) => name.slice(0, -ending.length))
    .sort()

/** A database as the statements that make it: one row is one line. */
function dumpOf(path: string): string {
  const db = new Sqlite(path, { readonly: true })
  try {
    const pragma = (name: string): string =>
      `PRAGMA ${name} = ${String(db.pragma(name, { simple: true }))};`
    const made = db
      .prepare<[], { type: string; name: string; sql: string }>(
        `SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid`,
      )
      .all()
    const tables = made.filter(({ type }) => type === 'table')
    const others = made.filter(({ type }) => type !== 'table')
    return [
      pragma('page_size'),
      pragma('user_version'),
      'BEGIN;',
      ...tables.map(({ sql }) => `${sql};`),
      ...tables.flatMap(({ name }) => rowsOf(db, name)),
      ...others.map(({ sql }) => `${sql};`),
      'COMMIT;',
      '',
    ].join('\n')
  } finally {
    db.close()
  }
}

function rowsOf(db: Sqlite.Database, table: string): string[] {
  const columns = db.pragma(`table_info(${table})`) as readonly { readonly name: string }[]
  const values = columns.map(({ name }) => `quote("${name}")`).join(` || ',' || `)
  return db
    .prepare<[], { row: string }>(`SELECT ${values} AS row FROM "${table}"`)
    .all()
    .map(({ row }) => `INSERT INTO "${table}" VALUES (${row});`)
}

const fileOf = (folder: string, stream: string): string =>
  join(folder, 'streams', `${stream}.jsonl`)

/** Writes the messages of the streams, one a line. A stream must be whole, because a copy begins with message 1. */
export async function writeStreams(
  bus: Bus,
  streams: readonly Omit<SampleStream, 'version'>[],
  folder: string,
): Promise<SampleStream[]> {
  const written: SampleStream[] = []
  for (const { stream, subject } of streams) {
    const { firstSeq, lastSeq } = await bus.streamState(stream)
    if (firstSeq !== 1) throw new Error(`${stream} begins with message ${firstSeq}`)
    const messages = await bus.read(stream, 1, Math.max(lastSeq, 1))
    const lines = messages.map(
      ({ data }) => `${JSON.stringify(Buffer.from(data).toString('utf8'))}\n`,
    )
    writeFileSync(fileOf(folder, stream), lines.join(''))
    written.push({ stream, subject, version: await bus.streamVersion(stream) })
  }
  return written
}

/** The inverse of writeStreams, on an empty bus. */
export async function restoreStreams(bus: Bus, folder: string): Promise<void> {
  for (const { stream, subject, version } of readManifest(folder).streams) {
    await bus.declareStream({ stream, subject, description: 'sample' })
    const lines = readFileSync(fileOf(folder, stream), 'utf8').split('\n').filter(Boolean)
    for (const line of lines) {
      const data = Buffer.from(JSON.parse(line) as string)
      await bus.append(stream === transfersStream ? transferSubjectOf(data) : subject, data)
    }
    if (version > 0) await bus.raiseStreamVersion(stream, version)
  }
}

function transferSubjectOf(data: Uint8Array): string {
  const { kind, actionHash } = decodeTransferProgress(data)
  return transferSubject(kind, actionHash)
}

/** Runs nats-server on the store of a stopped venue, and stops it. */
export async function withStore<T>(dataDir: string, use: (bus: Bus) => Promise<T>): Promise<T> {
  const dir = join(dataDir, 'nats')
  const server = await startNatsServer({ binary: natsServerBinary(), dir, port: await freePort() })
  try {
    const bus = await connectNatsBus({ url: server.url, name: 'sample' })
    try {
      return await use(bus)
    } finally {
      await bus.close()
    }
  } finally {
    await server.child.stop(STOP_GRACE_MS)
  }
}

/** Everything public and private that the sample's venue answers about what it recorded. */
export async function readAnswers(
  devnet: Devnet,
  {
    start,
    end,
    deposits,
    withdrawals,
  }: Pick<Manifest, 'start' | 'end' | 'deposits' | 'withdrawals'>,
): Promise<Record<string, unknown>> {
  const rest = createRestClient(devnet.gateway_url)
  const transfers = createTransferClient(devnet.gateway_url)
  const own = async (index: number) => {
    const frame = await frameOf(devnet, index)
    const { orders } = await rest.orderHistory(frame, { limit: 100 })
    const { fills } = await rest.fills(frame, { limit: 100 })
    return { owner: accountOf(devnet, index).name, orders, fills }
  }
  const { bids, asks } = await rest.book(SPOT)
  const { trades } = await rest.trades(SPOT, { limit: 100 })
  const { candles } = await rest.candles(SPOT, '1m', { start, end, limit: 100 })
  return {
    book: { bids, asks },
    trades,
    candles,
    accounts: await Promise.all(OWNERS.map(own)),
    deposits: await Promise.all(deposits.map((hash) => transfers.depositRecord(hash))),
    withdrawals: await Promise.all(withdrawals.map((hash) => transfers.withdrawalRecord(hash))),
  }
}

/** What the accounts of the sample's owners hold and what is reserved, as `GET /v1/balances` shows it. */
export async function readTokens(devnet: Devnet): Promise<unknown[]> {
  const rest = createRestClient(devnet.gateway_url)
  const tokensOf = async (index: number) => {
    const { accounts } = await rest.balances(await frameOf(devnet, index))
    return accounts.map(({ subaccount_id, tokens }) => ({ subaccount_id, tokens }))
  }
  return Promise.all(OWNERS.map(tokensOf))
}

function frameOf(devnet: Devnet, index: number): Promise<SignedFrame> {
  const signer = privateKeyToAccount(accountOf(devnet, index).private_key)
  return signFrame(signer, { purpose: 'history', domain: devnet.auth_domain })
}

function accountOf({ accounts }: Devnet, index: number): Devnet['accounts'][number] {
  const account = accounts[index]
  if (account === undefined) throw new Error(`the devnet has no account ${index}`)
  return account
}

/** The names of the samples that were recorded. */
export const samples = (): string[] =>
  (existsSync(SAMPLES) ? readdirSync(SAMPLES).sort() : []).filter((name) =>
    existsSync(join(SAMPLES, name, 'manifest.json')),
  )
