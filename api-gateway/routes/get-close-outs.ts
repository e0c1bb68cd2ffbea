import { z } from 'zod'
import { closeOutRecord } from '../../core/records/close-out-record.js'
import { CloseOutsPage } from '../../interface/close-out.js'
import { HistoryQuery } from '../../interface/order.js'
import { serviceAuthHeader } from '../../interface/venue.js'
import { refuse } from '../context.js'
import { marketNamed } from '../orders.js'
import { nextBefore, readHistoryPage, serviceAuth } from '../read-request.js'
import { historyRefusals, tooManyLarge, type Route } from '../route.js'

/** `GET /v1/close-outs`: what the chain closed of the accounts of the frame's owner when a series was settled, newest first. */
export const getCloseOuts: Route = {
  method: 'GET',
  path: '/v1/close-outs',
  operation: {
    id: 'listCloseOuts',
    tag: 'History',
    summary: 'List what settled series closed of one’s own positions, newest first',
    description:
      'One record for each account and series, some seconds after the chain has closed the position. The owner is that of the account when it was closed out.',
    headers: z.object({ 'X-Service-Auth': serviceAuthHeader }),
    query: HistoryQuery,
    responses: {
      200: { description: 'One page.', body: CloseOutsPage },
      ...historyRefusals,
      503: tooManyLarge,
    },
  },
  isLarge: () => true,
  handler: (deps) => async (ctx) => {
    const auth = await serviceAuth(ctx, deps)
    if ('refusal' in auth) return refuse(ctx, auth.refusal)
    const page = readHistoryPage(ctx, 'close-outs')
    if ('refusal' in page) return refuse(ctx, page.refusal)
    const closed = deps.readModel.closeOuts(auth.owner, page)
    ctx.body = {
      close_outs: closed.map((one) => closeOutRecord(marketNamed(deps, one.market), one)),
      ...nextBefore('close-outs', closed, page),
    } satisfies CloseOutsPage
  },
}
