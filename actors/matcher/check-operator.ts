import { operatorText, type MarketRequest } from '../../bus-schemas/markets.js'
import { operatorNonces } from '../../bus-schemas/subjects.js'
import { AppendRefused, AppendUnknown, type Bus, type ClaimsSpec } from '../../runtime/bus/bus.js'
import { isSignedBy } from '../../runtime/bus/nkeys.js'

/** How far the moment at which a command was signed may be from now. */
export const SIGNED_WITHIN_MS = 60_000
const NONCE = /^[0-9a-f]{32}$/

/** Longer than a signature counts, so that no nonce is forgotten before its command is too old. */
const NONCES: ClaimsSpec = {
  bucket: operatorNonces,
  keepMs: 10 * SIGNED_WITHIN_MS,
  description: 'Nonces of signed commands of operators: one is carried out once',
}

/** Who gives a command, for the log; or why it is not carried out, in one line. */
export type OperatorVerdict = { readonly by: string } | { readonly problem: string }

/** Judges who gives an operator's commands. */
export interface CheckOperator {
  /** Called before the first verdict. */
  open(bus: Pick<Bus, 'declareClaims'>): Promise<void>
  verdict(
    bus: Pick<Bus, 'claimOnce'>,
    market: string,
    request: MarketRequest,
  ): Promise<OperatorVerdict>
}

export interface OperatorRules {
  /** Names of operators by their public keys. */
  readonly keys: ReadonlyMap<string, string>
  /** Unix milliseconds. */
  readonly nowMs: () => number
}

/**
 * Takes commands that one of the keys has signed for this market within the last minute, each once: the nonce is claimed on the
 * bus, so that a matcher that takes over refuses what its predecessor has carried out.
 */
export const checkOperator = ({ keys, nowMs }: OperatorRules): CheckOperator => ({
  open: (bus) => bus.declareClaims(NONCES),
  async verdict(bus, market, request) {
    const { proof, by } = request
    if (keys.size === 0) return { problem: 'OPERATOR_KEYS of the matcher names no operator' }
    if (proof === undefined) {
      return { problem: 'the command is not signed: set OPERATOR_KEY_FILE' }
    }
    const name = keys.get(proof.key)
    if (name === undefined) return { problem: `${proof.key} is not one of OPERATOR_KEYS` }
    const { key, signature, ...unsigned } = proof
    const text = operatorText(market, request, { key, ...unsigned })
    if (!NONCE.test(proof.nonce) || !isSignedBy(key, text, signature)) {
      return { problem: `the signature of ${name} does not fit the command` }
    }
    const ageMs = nowMs() - proof.issued_at_ms
    if (Math.abs(ageMs) > SIGNED_WITHIN_MS) {
      return {
        problem: `the command was signed ${Math.round(ageMs / 1_000)} s ago: it counts for 60 s`,
      }
    }
    const isFirst = await claimed(bus, proof.nonce)
    if (isFirst === undefined) return { problem: 'the bus does not answer: try again' }
    if (!isFirst) return { problem: 'this command was given before' }
    return { by: by === name ? name : `${name} (${by})` }
  },
})

/** Undefined when it is unknown. */
async function claimed(bus: Pick<Bus, 'claimOnce'>, nonce: string): Promise<boolean | undefined> {
  try {
    return await bus.claimOnce(operatorNonces, nonce)
  } catch (error) {
    if (error instanceof AppendUnknown || error instanceof AppendRefused) return undefined
    throw error
  }
}
