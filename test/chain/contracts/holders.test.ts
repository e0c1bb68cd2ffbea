import { expect } from 'chai'
import { subAccountsAbi } from '../../../chain/abi/contracts.js'
import { selectorsOf } from '../../../chain/abi/selectors.js'
import { createCensus } from '../../../chain/contracts/holders.js'
import type { Address } from '../../../core/action.js'
import { aScriptedChain, type ScriptedChain } from '../../support/scripted-chain.js'

const address = (digit: string): Address => `0x${digit.repeat(40)}`
const [PERP, CASH, MANAGER, FOREIGN] = [address('a'), address('c'), address('d'), address('f')]
const deployment = { matching: address('1'), subAccounts: address('2') }
const of = selectorsOf(subAccountsAbi, 'lastAccountId', 'manager', 'getAccountBalances')

type Account = readonly [manager: Address, balances: readonly Address[] | 'revert']

/** A chain with these accounts, from id 1. */
const chainOf = (accounts: readonly Account[]): ScriptedChain =>
  aScriptedChain(({ data }) => {
    if (data.startsWith(of.lastAccountId)) return [BigInt(accounts.length)]
    const [manager, assets] = accounts[Number(BigInt(`0x${data.slice(10)}`)) - 1] ?? ['0x0', []]
    if (data.startsWith(of.manager)) return [BigInt(manager)]
    if (assets === 'revert') return assets
    const balances = assets.flatMap((asset) => [BigInt(asset), 0n, 5n])
    return [32n, BigInt(assets.length), ...balances]
  })

async function findHolders(accounts: readonly Account[]): Promise<readonly bigint[]> {
  const { client, head } = chainOf(accounts)
  const sought = { assets: new Set([PERP]), managers: new Set([MANAGER]) }
  const holders = await createCensus({ client, deployment }).at(await head(), sought)
  return holders.map(({ id }) => id)
}

describe('the census of accounts', () => {
  it('finds those under a manager that hold an asset, of those that are sought', async () => {
    const accounts: Account[] = [
      [MANAGER, [CASH, PERP]],
      [MANAGER, [CASH]],
      [FOREIGN, [PERP]],
      [MANAGER, [PERP]],
    ]
    expect(await findHolders(accounts)).to.deep.equal([1n, 4n])
  })

  it('finds the others where an account under another manager holds more than a node reads', async () => {
    const accounts: Account[] = [
      [FOREIGN, 'revert'],
      [MANAGER, [PERP]],
    ]
    expect(await findHolders(accounts)).to.deep.equal([2n])
  })
})
