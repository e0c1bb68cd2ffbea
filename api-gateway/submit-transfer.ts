import type { TransferKind } from '../core/transfer.js'
import { answerRequest, refuseTransfer } from './answer-transfer.js'
import { askToSubmit } from './ask-submitter.js'
import { clientAddress } from './client-address.js'
import type { GatewayDeps, Handler } from './context.js'
import { readJsonBody } from './read-json-body.js'

/** Reads the body as JSON and leaves every judgement of it to the submitter of its kind. */
export function submitTransfer(deps: GatewayDeps, kind: TransferKind): Handler {
  return async (ctx) => {
    const body = await readJsonBody(ctx)
    if ('refusal' in body) return refuseTransfer(ctx, body.refusal)
    const request = {
      request_id: ctx.state.requestId,
      client_address: clientAddress(ctx.req, deps.trustedProxies),
      body: body.text,
    }
    answerRequest(ctx, await askToSubmit(deps.bus, kind, request))
  }
}
