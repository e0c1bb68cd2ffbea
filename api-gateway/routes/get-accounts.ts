import {
  decodeOwnerAccountsAnswer,
  encodeOwnerAccountsQuestion,
  type OwnerAccountsAnswer,
} from '../../bus-schemas/owner-accounts.js'
import { askOwnerAccounts } from '../../bus-schemas/subjects.js'
import type { Address } from '../../core/action.js'
import { readRefusals as texts } from '../../core/entry/read-refusals.js'
import { accountsRecord } from '../../core/records/accounts-record.js'
import { AccountsBody, AccountsQuery } from '../../interface/accounts.js'
import { NoAnswer, type Bus } from '../../runtime/bus/bus.js'
import { refuse } from '../context.js'
import { ownerIn } from '../read-request.js'
import { refused, type Route } from '../route.js'

const ASK_TIMEOUT_MS = 2_000

/** `GET /v1/accounts`: the accounts and session keys of an owner, as the chain has them. */
export const getAccounts: Route = {
  method: 'GET',
  path: '/v1/accounts',
  operation: {
    id: 'listAccounts',
    tag: 'Market data',
    summary: 'Find the accounts of an owner',
    description:
      'Public, as the chain is: needs no signature. An account is here from the block in which the matching contract took it into custody, whether or not it has ever ordered.',
    query: AccountsQuery,
    responses: {
      200: {
        description: 'Its accounts and session keys; none is an empty list.',
        body: AccountsBody,
      },
      400: refused('`owner_address` is missing or no address.'),
      503: {
        ...refused(
          'The index of accounts has not reached the newest block yet, or does not answer; or `too_many_reads`: too many large reads of this address are in flight. One at a time is always admitted.',
        ),
        headers: ['Retry-After'],
      },
    },
  },
  isLarge: () => true,
  handler: (deps) => async (ctx) => {
    const asked = ownerIn(ctx)
    if ('refusal' in asked) return refuse(ctx, asked.refusal)
    const { owner } = asked
    const answer = await ask(deps.bus, owner)
    if (answer === undefined) return refuse(ctx, texts.accountsUnserved)
    if (answer.found === undefined) return refuse(ctx, texts.accountsBehind)
    const listed = deps.markets.filter(({ enabled }) => enabled)
    ctx.body = accountsRecord(owner, answer.found, listed)
  },
}

/** Undefined when no chain reader answers. */
async function ask(
  bus: Pick<Bus, 'ask' | 'isConnected'>,
  owner: Address,
): Promise<OwnerAccountsAnswer | undefined> {
  if (!bus.isConnected()) return undefined
  try {
    const question = encodeOwnerAccountsQuestion({ owner })
    return decodeOwnerAccountsAnswer(await bus.ask(askOwnerAccounts, question, ASK_TIMEOUT_MS))
  } catch (error) {
    if (error instanceof NoAnswer) return undefined
    throw error
  }
}
