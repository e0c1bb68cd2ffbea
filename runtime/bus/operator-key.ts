import { operatorText, type MarketRequest, type OperatorProof } from '../../bus-schemas/markets.js'
import type { BusUser } from '../../bus-schemas/permissions.js'
import type { TextOf } from './check-operator.js'
import { readSigningKey } from './nats-access.js'
import { signingKeyOf, type SigningKey } from './nkeys.js'

/** Signs an operator's commands. */
export interface OperatorKey {
  readonly publicKey: string
  /** The request with the proof of who gives it. */
  sign(market: string, request: MarketRequest, issued: IssueStamp): MarketRequest
  /** The proof of who says these bytes. */
  prove(textOf: TextOf, issued: IssueStamp): OperatorProof
}

/** What makes one command differ from every other with the same words. */
interface IssueStamp {
  /** Unix milliseconds. */
  readonly issuedAtMs: number
  /** 32 hex digits, never used before. */
  readonly nonce: string
}

/** Throws NotAKey. */
export const operatorKeyOf = (seed: Uint8Array): OperatorKey => signsCommands(signingKeyOf(seed))

/** The key in a file, or the operator's in a directory of seeds. Throws BusAccessRefused. */
export const readOperatorKey = (path: string): OperatorKey =>
  signsCommands(readSigningKey(path, 'operator'))

/** The key with which a process is known to the bus, where OPERATOR_KEYS names it. Throws BusAccessRefused. */
export const readProcessKey = (path: string, user: BusUser): OperatorKey =>
  signsCommands(readSigningKey(path, user))

function signsCommands(key: SigningKey): OperatorKey {
  const prove: OperatorKey['prove'] = (textOf, { issuedAtMs, nonce }) => {
    const unsigned = { key: key.publicKey, issued_at_ms: issuedAtMs, nonce }
    const signature = key.sign(textOf(unsigned))
    return { ...unsigned, signature: Buffer.from(signature).toString('base64') }
  }
  return {
    publicKey: key.publicKey,
    prove,
    sign: (market, request, issued) => ({
      ...request,
      proof: prove((unsigned) => operatorText(market, request, unsigned), issued),
    }),
  }
}
