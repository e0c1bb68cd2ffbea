import { expect } from 'chai'
import { subAccountsAbi } from '../../../chain/abi/contracts.js'
import { selectorsOf } from '../../../chain/abi/selectors.js'
import { createCensus, READ_AT_ONCE, type Census } from '../../../chain/contracts/holders.js'
import { encodeEventTopics } from 'viem'
import { OddAnswer } from '../../../chain/reads/answer-form.js'
import type { ChainClient } from '../../../chain/reads/client.js'
import type { Address, Hex } from '../../../core/action.js'
import { aScriptedChain, type ScriptedChain } from '../../support/scripted-chain.js'

const address = (digit: string): Address => `0x${digit.repeat(40)}`
const PERP = address('a')
const CASH = address('c')
const MANAGER = address('d')
const FOREIGN = address('f')
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

const sought = { assets: new Set([PERP]), managers: new Set([MANAGER]) }
const hashOf = (number: bigint): Hex => `0x${`${number}`.repeat(64)}`
const blockAt = (number: bigint) => ({ number, hash: hashOf(number), timestamp: 1_795_255_200n })
const [ADJUSTED] = encodeEventTopics({ abi: subAccountsAbi, eventName: 'BalanceAdjusted' })

/** The chain's client, which answers for events too: the balances of so many accounts, from id 1, change in every block. */
const withEvents = ({ client }: ScriptedChain, count: number): ChainClient =>
  ({
    getBlock: ({ blockNumber }: { blockNumber?: bigint } = {}) =>
      blockNumber === undefined ? client.getBlock() : Promise.resolve(blockAt(blockNumber)),
    request: (asked: { method: string }) =>
      asked.method === 'eth_getLogs'
        ? Promise.resolve(Array.from({ length: count }, (_, i) => adjustedOf(BigInt(i + 1))))
        : client.request(asked as never),
  }) as unknown as ChainClient

const adjustedOf = (id: bigint) => ({
  address: deployment.subAccounts,
  data: '0x',
  logIndex: '0x0',
  removed: false,
  topics: [ADJUSTED, `0x${id.toString(16).padStart(64, '0')}`],
  blockNumber: '0x6',
  blockHash: hashOf(6n),
  transactionHash: hashOf(7n),
  transactionIndex: '0x0',
})

async function findHolders(accounts: readonly Account[]): Promise<readonly bigint[]> {
  const { client, head } = chainOf(accounts)
  const { holders } = await createCensus({ client, deployment }).at(await head(), sought)
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

  describe('where others open many', () => {
    const many = (count: number) => Array.from({ length: count }, (): Account => [FOREIGN, []])
    const read = ({ calls }: ScriptedChain) =>
      calls.splice(0).filter(({ data }) => data.startsWith(of.manager)).length

    /** Looks at a block until no account is left to read. */
    async function lookOn(chain: ScriptedChain, census: Census) {
      const looks: { readonly ids: readonly bigint[]; readonly read: number }[] = []
      for (let isPartial = true; isPartial;) {
        const found = await census.at(await chain.head(), sought)
        isPartial = found.isPartial
        looks.push({ ids: found.holders.map(({ id }) => id), read: read(chain) })
      }
      return looks
    }

    it('reads a bounded part of them at each look, and finds all that count by the last', async () => {
      const foreign = many(2 * READ_AT_ONCE)
      const chain = chainOf([[MANAGER, [PERP]], ...foreign, [MANAGER, [PERP]]])
      const looks = await lookOn(chain, createCensus({ client: chain.client, deployment }))
      const last = BigInt(2 * READ_AT_ONCE + 2)
      expect(looks.map((look) => look.read)).to.deep.equal([READ_AT_ONCE, READ_AT_ONCE, 2])
      expect(looks.map(({ ids }) => ids)).to.deep.equal([[1n], [1n], [1n, last]])
    })

    it('reads what it knows first when that changes, and others that change in their turn', async () => {
      const accounts: Account[] = [[MANAGER, [PERP]], ...many(READ_AT_ONCE + 3)]
      const chain = chainOf(accounts)
      const census = createCensus({ client: withEvents(chain, accounts.length), deployment })
      await lookOn(chain, census)
      accounts[0] = [MANAGER, [CASH]]
      accounts[accounts.length - 1] = [MANAGER, [PERP]]
      // All accounts change in the next block.
      chain.head = () => Promise.resolve(blockAt(6n))
      const looks = await lookOn(chain, census)
      expect(looks).to.deep.equal([
        { ids: [], read: READ_AT_ONCE + 1 },
        { ids: [BigInt(accounts.length)], read: 3 },
      ])
    })

    it('goes on with a scan that has begun where the chain loses blocks, and scans again after it', async () => {
      const accounts: Account[] = [...many(2 * READ_AT_ONCE), [MANAGER, [PERP]]]
      const chain = chainOf(accounts)
      const census = createCensus({ client: withEvents(chain, 0), deployment })
      const found: (readonly bigint[])[] = []
      for (const lost of [1n, 2n, 3n]) {
        chain.head = () => Promise.resolve({ ...blockAt(5n), hash: hashOf(lost) })
        const { holders } = await census.at(await chain.head(), sought)
        found.push(holders.map(({ id }) => id))
      }
      expect(found).to.deep.equal([[], [], [BigInt(accounts.length)]])
    })

    it('keeps what it knows where the chain has lost the block, and reads it first', async () => {
      const accounts: Account[] = [...many(2 * READ_AT_ONCE), [MANAGER, [PERP]], [MANAGER, [PERP]]]
      const chain = chainOf(accounts)
      const census = createCensus({ client: withEvents(chain, 0), deployment })
      await lookOn(chain, census)
      accounts[accounts.length - 1] = [MANAGER, [CASH]]
      chain.head = () => Promise.resolve({ ...blockAt(5n), hash: hashOf(9n) })
      const { holders, isPartial } = await census.at(await chain.head(), sought)
      expect(holders.map(({ id }) => id)).to.deep.equal([BigInt(accounts.length - 1)])
      expect(isPartial).to.equal(true)
    })
  })

  it('has no answer where the chain says that it has more than any number', async () => {
    const { client, head } = aScriptedChain(() => [2n ** 256n - 1n])
    const counted = createCensus({ client, deployment }).at(await head(), sought)
    const failure = await counted.catch((error: unknown) => error)
    expect(failure).to.be.instanceOf(OddAnswer)
  })

  it('finds the others where an account under another manager holds more than a node reads', async () => {
    const accounts: Account[] = [
      [FOREIGN, 'revert'],
      [MANAGER, [PERP]],
    ]
    expect(await findHolders(accounts)).to.deep.equal([2n])
  })
})
