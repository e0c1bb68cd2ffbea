import { demoRefusals } from '../../core/entry/demo-refusals.js'
import { invalidAddress, type Refusal } from '../../core/entry/refusals.js'
import { DemoAccounts, DemoRequest } from '../../interface/demo.js'
import { jsonObjectOf, readBody } from '../../runtime/http/read-body.js'
import { BODY_LIMITS, refuse } from '../context.js'
import { bodyRefusals, broken, refused, type Route } from '../route.js'

/** Two blocks of a slow devnet, and the queue in front. */
const ANSWER_WITHIN_MS = 30_000
const BUSY_SEC = 60

/** `POST /v1/devnet/demo`: accounts with play money for an address, on a chain that the launcher started. */
export const postDevnetDemo: Route = {
  method: 'POST',
  path: '/v1/devnet/demo',
  operation: {
    id: 'openDemoAccounts',
    tag: 'Venue',
    summary: 'Get accounts with play money',
    description:
      'On a devnet alone. Opens a trading and a perpetual account for the address and gives its wallet gas money and tokens. An address gets them once; asked again, the answer is the same. ' +
      'At most ten addresses a minute, and 1,000 in the life of a devnet.',
    body: DemoRequest,
    responses: {
      200: { description: 'The accounts.', body: DemoAccounts },
      400: refused('No address.'),
      404: refused('This venue gives none.'),
      409: refused('This devnet has given all.'),
      ...bodyRefusals,
      429: { ...refused('The minute has given all.'), headers: ['Retry-After'] },
      500: broken,
      503: {
        ...refused('They were not opened, or it is not known; ask again.'),
        headers: ['Retry-After'],
      },
    },
  },
  handler({ demoUrl }) {
    return async (ctx) => {
      if (demoUrl === undefined) return refuse(ctx, demoRefusals.off)
      const read = await readBody(ctx.req, BODY_LIMITS)
      if ('refusal' in read) return refuse(ctx, read.refusal)
      const request = DemoRequest.safeParse(jsonObjectOf(read.body.toString()))
      if (!request.success) return refuse(ctx, invalidAddress('address'))
      const answer = await ask(demoUrl, request.data.address.toLowerCase())
      if (!('refusal' in answer)) return void (ctx.body = answer)
      if (answer.refusal === demoRefusals.busy) ctx.set('Retry-After', `${BUSY_SEC}`)
      refuse(ctx, answer.refusal)
    }
  },
}

async function ask(url: string, address: string): Promise<DemoAccounts | { refusal: Refusal }> {
  let response: Response
  try {
    response = await fetch(url, {
      method: 'POST',
      body: JSON.stringify({ address }),
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    })
    if (response.ok) return DemoAccounts.parse(await response.json())
  } catch (error) {
    // What fetch rejects with: the process is restarting, or took too long.
    if (error instanceof TypeError || error instanceof DOMException)
      return { refusal: demoRefusals.unavailable }
    throw error
  }
  await response.body?.cancel()
  if (response.status === 409) return { refusal: demoRefusals.exhausted }
  return { refusal: response.status === 429 ? demoRefusals.busy : demoRefusals.unavailable }
}
