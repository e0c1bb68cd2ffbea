import { pbkdf2Sync } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { bytesToHex, concat, keccak256, stringToHex } from 'viem'
import { generatePrivateKey, HDKey, hdKeyToAccount, privateKeyToAccount } from 'viem/accounts'
import { z } from 'zod'
import type { Address, Hex } from '../../core/action.js'
import { assert } from '../../core/assert.js'
import { writeJsonDurably } from '../../data/durable-file.js'
import { LauncherError } from '../launcher/wait-for.js'

/** The well-known mnemonic of development chains; its keys are public and must never hold value. */
const WELL_KNOWN_PHRASE = 'test test test test test test test test test test test junk'
const NAMES = ['alice', 'bob', 'carol', 'dave', 'erin', 'frank'] as const

export interface KeyedAccount {
  readonly name: string
  readonly address: Address
  readonly privateKey: Hex
}

/** The accounts of development traders. */
export function developmentAccounts(): KeyedAccount[] {
  const root = HDKey.fromMasterSeed(seedOf(WELL_KNOWN_PHRASE))
  return NAMES.map((name, addressIndex) => {
    const account = hdKeyToAccount(root, { addressIndex })
    const key = account.getHdKey().privateKey
    assert(key instanceof Uint8Array, 'a derived account has a private key')
    return { name, address: lowerCase(account.address), privateKey: bytesToHex(key) }
  })
}

/** The seed of a phrase without a password (BIP-39). Node's own function takes a hundredth of the time of a library's. */
const seedOf = (phrase: string): Uint8Array =>
  new Uint8Array(pbkdf2Sync(phrase, 'mnemonic', 2048, 64, 'sha512'))

/** The venue's own accounts on the development chain; their keys are generated for each devnet. */
export const ROLES = [
  'deployer',
  'executor',
  'deposit_submitter',
  'withdrawal_submitter',
  'demo_maker',
  'fee_owner',
  'feeder',
] as const
export type Role = (typeof ROLES)[number]
export type RoleAccounts = Readonly<Record<Role, KeyedAccount>>

/**
 * The key that gives demo accounts. It is derived from the deployer's: a file of keys of an earlier build stays whole, and each key
 * has one sender.
 */
export const demoKeyOf = ({ deployer }: Pick<RoleAccounts, 'deployer'>): Hex =>
  keccak256(concat([deployer.privateKey, stringToHex('demo accounts')]))

/** The key that keeps the contracts, derived for the same reason. */
export const keeperKeyOf = ({ deployer }: Pick<RoleAccounts, 'deployer'>): Hex =>
  keccak256(concat([deployer.privateKey, stringToHex('keeper')]))

const keysSchema = z.record(z.enum(ROLES), z.string().regex(/^0x[0-9a-f]{64}$/))

/**
 * Reads the venue's own accounts from `DATA_DIR/keys.json`; generates and writes them (mode 0600) the first time. Throws
 * LauncherError when the file lacks one.
 */
export async function roleAccounts(dataDir: string): Promise<RoleAccounts> {
  const file = join(dataDir, 'keys.json')
  const keys = (await readKeys(file)) ?? (await createKeys(file))
  const accounts = ROLES.map((role) => {
    const privateKey = keys[role] as Hex
    const address = lowerCase(privateKeyToAccount(privateKey).address)
    return [role, { name: role, address, privateKey }] as const
  })
  return Object.fromEntries(accounts) as Record<Role, KeyedAccount>
}

type Keys = z.infer<typeof keysSchema>

async function readKeys(file: string): Promise<Keys | undefined> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const parsed = keysSchema.safeParse(JSON.parse(text))
  if (parsed.success) return parsed.data
  throw new LauncherError(`${file} lacks keys that this version uses: run ./venue reset`, {
    cause: parsed.error,
  })
}

async function createKeys(file: string): Promise<Keys> {
  const keys = Object.fromEntries(ROLES.map((role) => [role, generatePrivateKey()])) as Keys
  await writeJsonDurably(file, keys, { mode: 0o600 })
  return keys
}

const lowerCase = (address: string): Address => address.toLowerCase() as Address
