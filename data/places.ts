import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** The process that writes each database, by its name in the Procfile. */
const WRITERS: Readonly<Record<string, string>> = {
  'history.db': 'projector',
  'intake.db': 'order-intake',
  'accounts.db': 'chain-reader',
  'executor.db': 'executor',
  'deposits.db': 'deposit-submitter',
  'deposit-transactions.db': 'deposit-submitter',
  'withdrawals.db': 'withdrawal-submitter',
  'withdrawal-transactions.db': 'withdrawal-submitter',
  'keeper.db': 'keeper',
  'keeper-transactions.db': 'keeper',
}

/** The directory of a process in DATA_DIR: one of its name where the operator made one, else DATA_DIR. */
export function ownDirectory(dataDir: string, process: string): string {
  const own = join(dataDir, process)
  return existsSync(own) ? own : dataDir
}

/** Where a database is, or would be made, in DATA_DIR. */
export function databasePath(dataDir: string, name: string): string {
  const writer = WRITERS[name]
  return join(writer === undefined ? dataDir : ownDirectory(dataDir, writer), name)
}

/** The names of the databases that are there; those of a directory that may not be read are left out. */
export function databaseNames(dataDir: string): string[] {
  const loose = readdirSync(dataDir).filter((name) => name.endsWith('.db'))
  const known = Object.keys(WRITERS).filter((name) => existsSync(databasePath(dataDir, name)))
  return [...new Set([...loose, ...known])].toSorted()
}
