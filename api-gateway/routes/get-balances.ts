import { z } from 'zod'
import {
  decodeBalancesAnswer,
  encodeBalancesQuestion,
  type BalancesAnswer,
  type BalancesQuestion,
} from '../../bus-schemas/account-facts.js'
import { askBalances } from '../../bus-schemas/subjects.js'
import { assert } from '../../core/assert.js'
import { parseInteger } from '../../core/decimal.js'
import { readRefusals as texts } from '../../core/entry/read-refusals.js'
import { refusals, type OrRefusal } from '../../core/entry/refusals.js'
import { MAX_BALANCE_ACCOUNTS } from '../../core/limits.js'
import { BalancesBody, BalancesQuery } from '../../interface/balances.js'
import { serviceAuthHeader } from '../../interface/venue.js'
import { NoAnswer, type Bus } from '../../runtime/bus/bus.js'
import { answerJson } from '../../runtime/http/server.js'
import { refuse, type GatewayContext } from '../context.js'
import { afterOf, asOf, askedSeqs, saySeqs, shownAtLeast } from '../feed-seqs.js'
import { serviceAuth } from '../read-request.js'
import { broken, chainSilent, refused, tooManyReads, type Route } from '../route.js'

/** Longer than the fan-out waits for its feeds and the chain. */
const ASK_TIMEOUT_MS = 8_000

/** `GET /v1/balances`: what the accounts of the frame's owner hold, and what of it is spoken for. */
export const getBalances: Route = asOf({
  method: 'GET',
  path: '/v1/balances',
  operation: {
    id: 'listBalances',
    tag: 'History',
    summary: 'Show what one’s own accounts hold and what is reserved',
    description:
      'By the same frame as the histories. Totals are those of the chain at `block_number`; `facts` is `stale` when the chain was last read more than 15 seconds before. Reservations include every order that this gateway has answered. Orders of one account may overlap: a new order is judged against `total` less `reserved_by_matches`.',
    headers: z.object({ 'X-Service-Auth': serviceAuthHeader }),
    query: BalancesQuery,
    responses: {
      200: { description: 'The accounts.', body: BalancesBody },
      400: refused('A bad `subaccount_id`.'),
      401: refused(
        'The frame is missing, malformed, expired or not signed by its address or a session key of it.',
      ),
      403: refused('An account in `subaccount_id` is not in custody for the address.'),
      500: broken,
      502: { ...chainSilent, headers: ['Retry-After'] },
      503: { ...tooManyReads, headers: ['Retry-After'] },
    },
  },
  isLarge: () => true,
  handler: (deps) => async (ctx) => {
    const auth = await serviceAuth(ctx, deps)
    if ('refusal' in auth) return refuse(ctx, auth.refusal)
    const asked = askedAccounts(ctx)
    if ('refusal' in asked) return refuse(ctx, asked.refusal)
    const wanted = askedSeqs(ctx, deps)
    if ('refusal' in wanted) return refuse(ctx, wanted.refusal)
    const unknown = await deps.ownWrites.known(wanted)
    if (unknown !== undefined) return refuse(ctx, unknown)
    const after = shownAtLeast(deps, wanted.seqs)
    const answer = await ask(deps.bus, { owner: auth.owner, ...asked, after: afterOf(after) })
    if (answer === undefined) return refuse(ctx, texts.balancesUnserved)
    const { failed, body } = answer
    if (failed !== undefined) return refuse(ctx, REFUSALS[failed])
    assert(body !== undefined, 'an answer without balances')
    saySeqs(ctx, after)
    answerJson(ctx, body)
  },
})

const REFUSALS = {
  behind: refusals.readBehind,
  unreadable: texts.balancesUnreadable,
  not_owned: texts.balancesNotOwned,
} as const

/** The accounts of the query; none when it names none. */
function askedAccounts({
  query,
}: GatewayContext): OrRefusal<{ readonly accounts?: readonly bigint[] }> {
  const { subaccount_id: sent } = query
  if (sent === undefined) return {}
  const parts = typeof sent === 'string' ? sent.split(',') : []
  const ids = new Set(parts.map((part) => parseInteger(part.trim())))
  if (ids.size === 0 || parts.length > MAX_BALANCE_ACCOUNTS || ids.has(undefined)) {
    return { refusal: texts.balancesAccounts }
  }
  return { accounts: [...ids].filter((id) => id !== undefined) }
}

/** Undefined when no fan-out answers. */
async function ask(
  bus: Pick<Bus, 'ask'>,
  question: BalancesQuestion,
): Promise<BalancesAnswer | undefined> {
  try {
    const data = await bus.ask(askBalances, encodeBalancesQuestion(question), ASK_TIMEOUT_MS)
    return decodeBalancesAnswer(data)
  } catch (error) {
    if (error instanceof NoAnswer) return undefined
    throw error
  }
}
