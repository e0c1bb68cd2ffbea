import type { Answer } from '../../chain/expiring-cache.js'
import type { Checked } from '../../core/checked.js'
import type { Command } from '../../core/command.js'
import { type CancelRequest, readCancel } from '../../core/read-cancel.js'
import { type Refusal, protectedNamespace, refusals } from '../../core/refusals.js'
import type { IntakeRegistry } from '../../data/intake-registry.js'
import { type CancelProofDeps, refuseAuthority } from './cancel-proof.js'

export interface CancelOrderDeps extends CancelProofDeps {
  readonly registry: Pick<IntakeRegistry, 'findNonce'>
  /** Prefixes of order ids that a service-tagged cancel may not touch (decision B13). */
  readonly protectedPrefixes: readonly string[]
}

/** A cancel that may enter the log of its market. */
export interface Cancellable {
  readonly market: string
  readonly command: Extract<Command, { kind: 'CancelOrder' }>
}

/**
 * Judges a cancel's body, then who sent it, and only then finds the market of its order. Whether the order is still active is the matcher's to say;
 * an (owner, nonce) that was never taken is in no log.
 */
export function checkCancel(
  deps: CancelOrderDeps,
  body: unknown,
  serviceAuth: string | undefined,
): Answer<Checked<Cancellable>> {
  const read = readCancel(body)
  if ('refusal' in read) return read
  const refusal = refuseAuthority(deps, read, serviceAuth)
  return refusal instanceof Promise
    ? refusal.then((known) => findTarget(deps, read, known))
    : findTarget(deps, read, refusal)
}

function findTarget(
  deps: CancelOrderDeps,
  { owner, nonce, reason, serviceTagged }: CancelRequest,
  refusal: Refusal | undefined,
): Checked<Cancellable> {
  if (refusal !== undefined) return { refusal }
  const target = deps.registry.findNonce(owner, nonce)
  if (target === undefined) return { refusal: refusals.activeOrderNotFound }
  const prefix = deps.protectedPrefixes.find((each) => target.orderId.startsWith(each))
  if (prefix !== undefined && serviceTagged) return { refusal: protectedNamespace(prefix) }
  return { market: target.market, command: { kind: 'CancelOrder', owner, nonce, reason } }
}
