import { ChainUnreachable } from '../../chain/chain-unreachable.js'
import type { AccountFacts, AccountReader } from '../../chain/read-account.js'

/** The facts of an account at the newest block; rejects with ChainUnreachable, for money fails closed. */
export async function readHeldAccount(
  accounts: Pick<AccountReader, 'readAccount'>,
  id: bigint,
): Promise<AccountFacts> {
  const facts = await accounts.readAccount(id)
  if (facts === undefined) throw new ChainUnreachable(`no answer from the chain: account ${id}`)
  return facts
}
