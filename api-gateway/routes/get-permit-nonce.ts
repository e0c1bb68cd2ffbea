import { ChainUnreachable } from '../../chain/reads/client.js'
import { readRefusals as texts } from '../../core/entry/read-refusals.js'
import { PermitNonce, PermitNonceQuery } from '../../interface/transfer.js'
import { refuse } from '../context.js'
import { ownerIn } from '../read-request.js'
import { broken, chainSilent, refused, type Route } from '../route.js'

/** `GET /v1/permit-nonce`: what an owner signs as the nonce of its next permit on USDC, for clients without a node. */
export const getPermitNonce: Route = {
  method: 'GET',
  path: '/v1/permit-nonce',
  operation: {
    id: 'readPermitNonce',
    tag: 'Deposits and withdrawals',
    summary: 'Read the nonce of an owner’s next permit on USDC',
    query: PermitNonceQuery,
    responses: {
      200: { description: 'As the newest block has it.', body: PermitNonce },
      400: refused('`owner_address` is missing or no address.'),
      500: broken,
      502: chainSilent,
    },
  },
  handler:
    ({ permitNonce, deployment }) =>
    async (ctx) => {
      const asked = ownerIn(ctx)
      if ('refusal' in asked) return refuse(ctx, asked.refusal)
      const { owner } = asked
      try {
        const nonce = await permitNonce?.(owner)
        if (nonce === undefined) return refuse(ctx, texts.permitNonceUnreadable)
        ctx.body = {
          owner_address: owner,
          token_address: deployment.usdc,
          nonce: nonce.toString(),
        } satisfies PermitNonce
      } catch (error) {
        if (!(error instanceof ChainUnreachable)) throw error
        refuse(ctx, texts.permitNonceUnreadable)
      }
    },
}
