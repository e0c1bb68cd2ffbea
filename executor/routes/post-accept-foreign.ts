import type Koa from 'koa'
import { ChainUnreachable } from '../../chain/reads/client.js'
import type { Acceptance } from '../../chain/sender/tracking.js'
import type { Hex } from '../../core/action.js'
import { refusals } from '../../core/entry/refusals.js'
import { AcceptForeignRequest, type AcceptForeignAnswer } from '../../interface/execute.js'
import { parseJson, readBody } from '../../runtime/http/read-body.js'
import type { HttpState } from '../../runtime/http/server.js'
import { isJsonType } from '../door.js'
import type { Executor } from '../open-executor.js'
import { executorRefusals, foreignNotAccepted, refuse, unavailable } from '../refusals.js'

const BODY_LIMITS = { maxBytes: 1_024, maxDepth: 2, tooLarge: executorRefusals.bodyTooLarge }

/**
 * `POST /accept-foreign` `{tx_hash}`: an operator has found the cause of the foreign transaction for which the executor takes
 * nothing, and it is to go on. 200 with what used the nonces; 422 with the reason where it cannot go on.
 */
export function postAcceptForeign({
  acceptForeign,
}: Pick<Executor, 'acceptForeign'>): Koa.Middleware<HttpState> {
  return async (ctx) => {
    if (!isJsonType(ctx.get('content-type'))) return refuse(ctx, executorRefusals.notJson)
    const read = await readBody(ctx.req, BODY_LIMITS)
    if ('refusal' in read) return refuse(ctx, read.refusal)
    const parsed = AcceptForeignRequest.safeParse(parseJson(read.body.toString()))
    if (!parsed.success) return refuse(ctx, refusals.invalidJsonBody)
    try {
      const acceptance = await acceptForeign(parsed.data.tx_hash.toLowerCase() as Hex)
      if (acceptance.kind !== 'accepted') {
        return refuse(ctx, foreignNotAccepted(reasonOf(acceptance)))
      }
      ctx.body = {
        transactions: acceptance.foreign.map(({ evmNonce, by }) => ({
          evm_nonce: evmNonce,
          tx_hash: by.hash,
          block_number: String(by.blockNumber),
        })),
      } satisfies AcceptForeignAnswer
    } catch (error) {
      if (!(error instanceof ChainUnreachable)) throw error
      refuse(ctx, unavailable('the chain does not answer'))
    }
  }
}

function reasonOf(acceptance: Exclude<Acceptance, { kind: 'accepted' }>): string {
  switch (acceptance.kind) {
    case 'not_frozen':
      return 'no foreign transaction keeps the executor from settling'
    case 'another': {
      const { by, evmNonce } = acceptance.frozen
      return `the executor waits for ${by.hash}, which used nonce ${evmNonce} in block ${by.blockNumber}`
    }
    case 'not_final':
      return 'the foreign transaction is not final yet: wait, and ask again'
    case 'unexplained':
      return `no node tells what used nonce ${acceptance.evmNonce}: ask a node that keeps older states`
    case 'own': {
      const { by, evmNonce } = acceptance
      return (
        `${by.hash} at nonce ${evmNonce} may have settled matches that the journal lacks, which would be settled twice: restore ` +
        `the journal, or check that transaction and start with EXECUTOR_ACCEPT_NONCES=${evmNonce + 1}`
      )
    }
  }
}
