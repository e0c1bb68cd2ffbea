import { z } from 'zod'
import type { OperatorProof } from '../../bus-schemas/markets.js'
import { operatorNonces } from '../../bus-schemas/subjects.js'
import { AppendRefused, AppendUnknown, type Bus, type ClaimsSpec } from './bus.js'
import { isSignedBy } from './nkeys.js'

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

/** Public keys of operators with their names. */
const OPERATOR = /^([A-Za-z0-9._-]{1,32})=(U[A-Z2-7]{55})$/

/** Who may give commands: `<name>=<public key>`, comma-separated; without any, none is taken. */
export const operatorKeys = z
  .string()
  .default('')
  .transform((given, ctx): ReadonlyMap<string, string> => {
    const keys = new Map<string, string>()
    for (const entry of given.split(',').filter((each) => each.trim() !== '')) {
      const [, name, key] = OPERATOR.exec(entry.trim()) ?? []
      if (name === undefined || key === undefined) {
        ctx.addIssue('must be <name>=<public key>, separated by commas')
        return z.NEVER
      }
      keys.set(key, name)
    }
    return keys
  })

/** A command as far as its proof goes. */
export interface SignedCommand {
  readonly by: string
  readonly proof?: OperatorProof
}

/** The bytes that were signed, with what the proof says of itself. */
export type TextOf = (proof: Omit<OperatorProof, 'signature'>) => Uint8Array

/** Judges who gives an operator's commands. */
export interface CheckOperator {
  /** Called before the first verdict. */
  open(bus: Pick<Bus, 'declareClaims'>): Promise<void>
  verdict(
    bus: Pick<Bus, 'claimOnce'>,
    command: SignedCommand,
    textOf: TextOf,
  ): Promise<OperatorVerdict>
}

export interface OperatorRules {
  /** Names of operators by their public keys. */
  readonly keys: ReadonlyMap<string, string>
  /** Unix milliseconds. */
  readonly nowMs: () => number
}

/**
 * Takes commands that one of the keys has signed within the last minute, each once: the nonce is claimed on the bus, so that a
 * process that takes over refuses what its predecessor has carried out.
 */
export const checkOperator = ({ keys, nowMs }: OperatorRules): CheckOperator => ({
  open: (bus) => bus.declareClaims(NONCES),
  async verdict(bus, { proof, by }, textOf) {
    if (keys.size === 0) return { problem: 'OPERATOR_KEYS names no operator' }
    if (proof === undefined) {
      return { problem: 'the command is not signed: set OPERATOR_KEY_FILE' }
    }
    const name = keys.get(proof.key)
    if (name === undefined) return { problem: `${proof.key} is not one of OPERATOR_KEYS` }
    const { key, signature, ...unsigned } = proof
    if (!NONCE.test(proof.nonce) || !isSignedBy(key, textOf({ key, ...unsigned }), signature)) {
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
