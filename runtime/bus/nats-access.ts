import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ConnectionOptions } from 'nats'
import { z } from 'zod'
import { inboxPrefix } from '../../bus-schemas/subjects.js'
import type { BusUser } from '../../bus-schemas/permissions.js'
import { CannotStart } from '../../core/cannot-start.js'
import { NotAKey, signingKeyOf, type SigningKey } from './nkeys.js'

/** Addresses separated by commas. */
const addresses = z
  .string()
  .transform((list) => list.split(',').map((each) => each.trim()))
  .pipe(z.array(z.url()))

/** Settings of every process that uses the bus, by the names of its environment; `.env.example` describes them. */
export const accessEnv = z.object({
  NATS_CREDENTIALS: z.string().optional(),
  NATS_CA_FILE: z.string().optional(),
  NATS_CERT_FILE: z.string().optional(),
  NATS_KEY_FILE: z.string().optional(),
})

/** The same with the bus's address. */
export const busEnv = accessEnv.extend({
  NATS_URL: z.string().min(1),
  NATS_MONITOR_URL: addresses.default([]),
  NATS_REPLICAS: z.enum(['1', '3', '5']).default('1').transform(Number),
})

interface TlsFiles {
  readonly caFile?: string | undefined
  readonly certFile?: string | undefined
  readonly keyFile?: string | undefined
}

/** Where the bus is, and what opens it. */
export interface BusPlace {
  /**
   * `nats://host:port` or `tls://host:port`: one server, or those of a cluster separated by commas, that of this machine first:
   * it is tried first.
   */
  readonly url: string
  /**
   * The monitoring addresses of all servers: the only way to check that writes are synced before they are acknowledged.
   * Without them a warning says that this is unchecked; streams with several replicas need them.
   */
  readonly monitorUrls?: readonly string[]
  /** On how many servers each stream is stored, 1 by default; one that exists with another number is BusMisconfigured. */
  readonly replicas?: number
  /** The file with the process's seed, or the directory of the seeds, from which it takes `<user>.nk`. */
  readonly credentials?: string | undefined
  /** Files in PEM: the authority that signed the server's certificate, and a certificate of the client with its key. */
  readonly tls?: TlsFiles | undefined
}

export type BusSettings = Readonly<z.infer<typeof busEnv>>

export function busPlace(config: BusSettings): BusPlace {
  const { NATS_URL: url, NATS_MONITOR_URL: monitorUrls, NATS_REPLICAS: replicas } = config
  return { url, monitorUrls, replicas, ...accessOf(config) }
}

export const accessOf = (
  config: Readonly<z.infer<typeof accessEnv>>,
): Pick<BusPlace, 'credentials' | 'tls'> => ({
  credentials: config.NATS_CREDENTIALS,
  tls: {
    caFile: config.NATS_CA_FILE,
    certFile: config.NATS_CERT_FILE,
    keyFile: config.NATS_KEY_FILE,
  },
})

/** The bus may not be reached in this way; the message says what to change. */
export class BusAccessRefused extends CannotStart {
  override readonly name = 'BusAccessRefused'
}

interface Access extends Pick<ConnectionOptions, 'authenticator' | 'inboxPrefix' | 'tls'> {
  readonly servers: string[]
}

/**
 * How the client connects as this user. Throws BusAccessRefused for an address beyond this machine without TLS or without
 * credentials, and for a file that other users of the machine can read, or that holds no seed.
 */
export function readAccess(place: BusPlace, user: BusUser | undefined): Access {
  const servers = place.url.split(',').map((url) => url.trim())
  const encrypted = servers.filter((url) => url.startsWith('tls://'))
  for (const url of servers) assertSafe(url, place.credentials)
  if (encrypted.length > 0 && encrypted.length < servers.length) {
    throw new BusAccessRefused('NATS_URL names servers with TLS and others without')
  }
  const { credentials } = place
  const key = credentials === undefined ? undefined : readSigningKey(credentials, user)
  return {
    servers,
    ...(user !== undefined && { inboxPrefix: inboxPrefix(user) }),
    ...(key !== undefined && { authenticator: (nonce) => answerTo(key, nonce) }),
    // Present, so that a server without TLS is refused.
    ...(encrypted.length > 0 && { tls: tlsOf(place.tls ?? {}) }),
  }
}

/** What proves to the server who connects: the signature of its challenge, in base64. */
const answerTo = ({ publicKey, sign }: SigningKey, nonce = '') => ({
  nkey: publicKey,
  sig: Buffer.from(sign(Buffer.from(nonce, 'utf8'))).toString('base64'),
})

function assertSafe(url: string, credentials: string | undefined): void {
  if (isLoopback(url)) return
  if (!url.startsWith('tls://')) {
    throw new BusAccessRefused(
      `${url} is neither on loopback nor encrypted: set NATS_URL to tls:// (docs/GO-LIVE.md)`,
    )
  }
  if (credentials !== undefined) return
  throw new BusAccessRefused(
    `${url} is beyond this machine: set NATS_CREDENTIALS (./venue bus-users makes them)`,
  )
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/** Whether a server's address is one of this machine. */
export function isLoopback(url: string): boolean {
  try {
    const { hostname } = new URL(url.includes('://') ? url : `nats://${url}`)
    return LOOPBACK.test(hostname)
  } catch {
    return false
  }
}

/** Where ./venue up keeps the seeds of its bus. */
export const busSeedsDir = (dataDir: string): string => join(dataDir, 'bus')

/** The name of a user's file in the directory of the seeds. */
export const seedFile = (user: string): string => `${user}.nk`

const OTHERS = 0o077

/** The key of the seed in a file, or in a user's file of a directory. Throws BusAccessRefused. */
export function readSigningKey(path: string, user: string | undefined): SigningKey {
  const file = isDirectory(path) && user !== undefined ? join(path, seedFile(user)) : path
  const [mode, text] = readText(file)
  if ((mode & OTHERS) !== 0) {
    throw new BusAccessRefused(`${file} can be read by others: chmod 600 ${file}`)
  }
  try {
    return signingKeyOf(new TextEncoder().encode(text.trim()))
  } catch (cause) {
    if (!(cause instanceof NotAKey)) throw cause
    throw new BusAccessRefused(`${file} holds no seed: ${cause.message}`, { cause })
  }
}

const isDirectory = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

function readText(file: string): readonly [mode: number, text: string] {
  try {
    return [statSync(file).mode, readFileSync(file, 'utf8')]
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new BusAccessRefused(`the credentials ${file} cannot be read: ${why}`, { cause })
  }
}

function tlsOf({ caFile, certFile, keyFile }: TlsFiles) {
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw new BusAccessRefused('NATS_CERT_FILE and NATS_KEY_FILE belong together')
  }
  for (const file of [caFile, certFile, keyFile]) if (file !== undefined) readText(file)
  return {
    ...(caFile !== undefined && { caFile }),
    ...(certFile !== undefined && keyFile !== undefined && { certFile, keyFile }),
  }
}
