import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads'
import { z } from 'zod'
import type { Address, Hex } from '../../../core/action.js'
import { CannotStart } from '../../../core/cannot-start.js'
import { SignerUnavailable } from '../../../core/transaction-journal.js'
import {
  addressOfPublicKey,
  bytesToHex,
  hexToBytes,
  keccak256,
  recoverStrict,
  transactionSignerOf,
  type TransactionSigner,
} from '../keys.js'

/** Where a key is kept that this machine never sees: a server with the eth1 interface of web3signer. */
export interface ExternalKey {
  /** The server's root, without the path of the interface. */
  readonly url: string
  readonly address: Address
  /** How long one signature may take, in milliseconds. */
  readonly timeoutMs: number
}

/** What the thread is asked: one HTTP request, with the clock in its hands. */
export interface SignerCall {
  readonly url: string
  /** The body of a POST; a GET without. */
  readonly body?: string
  readonly timeoutMs: number
}

/** What the thread answers. */
export type SignerReply =
  { readonly status: number; readonly text: string } | { readonly error: string }

/** Calls and their answers have numbers. */
export interface NumberedCall {
  readonly id: number
  readonly call: SignerCall
}
export interface NumberedReply {
  readonly id: number
  readonly reply: SignerReply
}

/** The error of a server that is silent, as opposed to one that is not there. */
export const NO_ANSWER = 'no answer in time'
/** The thread's own time-out ends a call; this is for a thread that hangs. */
const THREAD_GRACE_MS = 1_000

/** For the list of keys, which is asked for once, while the thread starts. */
const START_WITHIN_MS = 10_000

const publicKeys = z.array(z.string().regex(/^0x[0-9a-fA-F]{128}$/))
const signatureText = z.string().regex(/^0x[0-9a-fA-F]{130}$/)

/**
 * Opens the key at its server. The server hashes what it signs with keccak-256 itself, so that it is sent the unsigned
 * transaction and never a digest. A signature counts only when the address recovered from it is the key's. The calling
 * thread stands still while it waits, at most `timeoutMs`: a nonce is taken, signed and journaled in one step. Throws
 * SignerUnavailable when the server gives no list of keys, and CannotStart when it does not hold this one.
 */
export function openExternalSigner(key: ExternalKey, chainId: number): TransactionSigner {
  const call = startThread()
  let silentUntilMs = 0
  const ask = (path: string, timeoutMs: number, body?: string): string => {
    if (performance.now() < silentUntilMs) throw unavailable('it was silent just now')
    const url = new URL(path, withSlash(key.url)).href
    const reply = call({ url, timeoutMs, ...(body !== undefined && { body }) })
    if ('error' in reply) {
      // The thread that asks does its other work in between.
      if (reply.error === NO_ANSWER) silentUntilMs = performance.now() + timeoutMs
      throw unavailable(reply.error)
    }
    if (reply.status !== 200) throw unavailable(`it answered with status ${reply.status}`)
    return reply.text.trim()
  }
  const identifier = findKey(ask('api/v1/eth1/publicKeys', START_WITHIN_MS), key)
  return transactionSignerOf(key.address, chainId, (payload) => {
    const body = JSON.stringify({ data: bytesToHex(payload) })
    return verified(
      ask(`api/v1/eth1/sign/${identifier}`, key.timeoutMs, body),
      payload,
      key.address,
    )
  })
}

const withSlash = (url: string): string => (url.endsWith('/') ? url : `${url}/`)

const unavailable = (why: string): SignerUnavailable =>
  new SignerUnavailable(`the external signer gave no signature: ${why}`)

/** The name that the server has for the key: its public key. */
function findKey(text: string, { url, address }: ExternalKey): string {
  const listed = publicKeys.safeParse(parsed(text))
  if (!listed.success) throw unavailable('its list of keys is not a list of public keys')
  const found = listed.data.find(
    (key) => addressOfPublicKey(hexToBytes(`0x04${key.slice(2)}`)) === address,
  )
  if (found === undefined)
    throw new CannotStart(`the external signer at ${new URL(url).host} has no key of ${address}`)
  return found
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The signature, when the chain will see our address in it. The last byte is 27 or 28, from some servers 0 or 1. */
function verified(text: string, payload: Uint8Array, address: Address) {
  const given = signatureText.safeParse(text)
  if (!given.success) throw unavailable('its answer is not a signature of 65 bytes')
  const signature = hexToBytes(given.data as Hex).subarray(0, 64)
  const digest = keccak256(payload)
  const recid = [0, 1].find((id) => {
    return recoverStrict(digest, Buffer.concat([signature, Uint8Array.of(27 + id)])) === address
  })
  if (recid === undefined) throw unavailable(`its signature is not one of ${address}`)
  return { signature, recid }
}

/** Calls by HTTP in a thread of their own, for which the caller waits. */
function startThread(): (call: SignerCall) => SignerReply {
  const { port1: ours, port2: theirs } = new MessageChannel()
  const state = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(new URL('./worker.js', import.meta.url), {
    workerData: { port: theirs, state },
    transferList: [theirs],
    execArgv: [],
    env: {},
  })
  worker.unref()
  ours.unref()
  let newest = 0
  return (call) => {
    const id = (newest += 1)
    const untilMs = performance.now() + call.timeoutMs + THREAD_GRACE_MS
    ours.postMessage({ id, call })
    for (;;) {
      const before = Atomics.load(state, 0)
      const received = receiveMessageOnPort(ours) as { message: NumberedReply } | undefined
      // The late answer to a call that was given up is not the answer to this one.
      if (received?.message.id === id) return received.message.reply
      if (received !== undefined) continue
      const leftMs = untilMs - performance.now()
      if (leftMs <= 0) return { error: NO_ANSWER }
      Atomics.wait(state, 0, before, leftMs)
    }
  }
}
