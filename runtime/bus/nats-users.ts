import { mkdir, open, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { BUS_USERS, permissionsOf, type BusUser } from '../../bus-schemas/permissions.js'
import { readSigningKey, seedFile } from './nats-access.js'
import { newSeed } from './nkeys.js'

/** The public keys of the bus's users. */
export type PublicKeys = Readonly<Record<BusUser, string>>

const DIRECTORY_MODE = 0o700
const SEED_MODE = 0o600

/**
 * The keys of all users, whose seeds are in the directory: a seed that is not there is made, one that is stays. Throws
 * BusAccessRefused for a seed that others can read.
 */
export async function provideSeeds(dir: string): Promise<PublicKeys> {
  await mkdir(dir, { recursive: true, mode: DIRECTORY_MODE })
  const keys: [BusUser, string][] = []
  for (const user of BUS_USERS) {
    const file = join(dir, seedFile(user))
    if (!existsSync(file)) await writeSeed(file)
    keys.push([user, readSigningKey(file, user).publicKey])
  }
  return Object.fromEntries(keys) as PublicKeys
}

/** A new seed in a new file that only its owner can read. */
async function writeSeed(path: string): Promise<void> {
  const file = await open(path, 'wx', SEED_MODE)
  try {
    await file.write(`${newSeed()}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** The same, with `authorization.conf` next to the seeds, for the configuration of nats-server to include. */
export async function provideUsers(
  dir: string,
): Promise<{ readonly file: string; readonly keys: PublicKeys }> {
  const keys = await provideSeeds(dir)
  const file = join(dir, 'authorization.conf')
  await writeFile(file, `# Written by ./venue bus-users.\n${authorizationBlock(keys)}`)
  return { file, keys }
}

/** A machine that is busy may take long to start a client; the server's own limit is two seconds. */
const SIGNED_WITHIN_S = 30

/** The users as the configuration of nats-server states them: `authorization { timeout, users: [ ... ] }`. */
export function authorizationBlock(keys: PublicKeys): string {
  const users = BUS_USERS.map((user) => userBlock(user, keys[user]))
  return `authorization {\n  timeout: ${SIGNED_WITHIN_S}\n  users: [\n${users.join('')}  ]\n}\n`
}

function userBlock(user: BusUser, key: string): string {
  const { publish, subscribe } = permissionsOf(user)
  const lines = [
    `    # ${user}`,
    '    {',
    `      nkey: ${key}`,
    '      permissions: {',
    '        publish: {',
    `          allow: ${list(publish.allow)}`,
    ...(publish.deny.length > 0 ? [`          deny: ${list(publish.deny)}`] : []),
    '        }',
    '        subscribe: {',
    `          allow: ${list(subscribe.allow)}`,
    ...(subscribe.deny.length > 0 ? [`          deny: ${list(subscribe.deny)}`] : []),
    '        }',
    '      }',
    '    }',
  ]
  return `${lines.join('\n')}\n`
}

const list = (subjects: readonly string[]): string =>
  `[${[...new Set(subjects)].map((subject) => JSON.stringify(subject)).join(', ')}]`
