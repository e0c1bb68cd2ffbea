import { expect } from 'chai'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openStoresReader } from '../../../data/inspect-stores.js'
import type { TestVenue } from '../../support/venue.js'

/** Every SQLite file of a data directory, with the processes that have it open: its writer, then its readers. */
export const DATABASES: Readonly<Record<string, readonly string[]>> = {
  'history.db': ['projector', 'gateway'],
  'intake.db': ['order-intake'],
  'accounts.db': ['chain-reader'],
  'executor.db': ['executor'],
  'deposits.db': ['deposit-submitter'],
  'deposit-transactions.db': ['deposit-submitter'],
  'withdrawals.db': ['withdrawal-submitter'],
  'withdrawal-transactions.db': ['withdrawal-submitter'],
}

const ENDINGS = ['', '-wal', '-shm', '-journal']

/** The SQLite files of a data directory. */
export const databasesIn = (dataDir: string): string[] =>
  readdirSync(dataDir).filter((name) => name.endsWith('.db'))

/**
 * Ends every process that has the database open, and deletes it before any of them is started again: a stopped process
 * does nothing until it is killed, and the launcher starts its successor after that. Resolves when the venue is ready.
 */
export async function deleteWhileDown(venue: TestVenue, name: string): Promise<void> {
  const owners = DATABASES[name] ?? []
  expect(owners, name).to.not.deep.equal([])
  for (const owner of owners) await venue.kill(owner, 'SIGSTOP')
  for (const ending of ENDINGS) rmSync(join(venue.dataDir, `${name}${ending}`), { force: true })
  await Promise.all(owners.map((owner) => venue.restartWorker(owner, 'SIGKILL')))
  await venue.untilReady()
}

/**
 * What the databases say of each subject: its trades, and the intents with every signed attempt. Whether a transaction is
 * final is left out: it becomes so while one looks.
 */
export function trailsOf({ dataDir }: TestVenue, subjects: readonly string[]): unknown[] {
  const stores = openStoresReader(dataDir)
  try {
    return subjects.map((subject) => ({
      subject,
      trades: stores.trades(subject),
      intents: stores.intents(subject).map(({ transactions, ...intent }) => ({
        ...intent,
        transactions: transactions.map((each) => ({ ...each, isFinal: undefined })),
      })),
    }))
  } finally {
    stores.close()
  }
}
