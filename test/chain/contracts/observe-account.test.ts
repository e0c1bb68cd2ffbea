import { balancesOf } from '../../../core/contracts/balances.js'
import { expect } from 'chai'
import { encodeFunctionData } from 'viem'
import { assert } from '../../../core/assert.js'
import { balanceClaim, marginClaim } from '../../../core/contracts/claims.js'
import type { Market } from '../../../core/model/market.js'
import { managerAbi, matchingAbi } from '../../../chain/abi/contracts.js'
import { createFundsReader, observeAccount } from '../../../chain/contracts/observe-account.js'
import { createCapacityReader } from '../../../chain/contracts/read-claims.js'
import { createChainClient } from '../../../chain/reads/client.js'
import {
  balanceOf,
  newAccount,
  openAccount,
  openWorld,
  perform,
  type World,
} from '../../support/devnet-world.js'
import { marketsOf } from '../../support/executor-world.js'

describe('observing an account on a chain', () => {
  let world: World

  before(async () => {
    world = await openWorld()
  })
  after(() => world.anvil.stop())

  const market = (): Market => {
    const [first] = marketsOf(world)
    assert(first !== undefined, 'there is no market')
    return first
  }
  const deployment = () => ({ matching: world.at.matching, subAccounts: world.at.sub_accounts })
  const observe = async (id: bigint, block = {}) => {
    const client = createChainClient(world.anvil.rpcUrl, 'read')
    const place = { ...(await client.getBlock()), ...block }
    return observeAccount({ client, deployment: deployment() }, market(), id, place)
  }

  it('tells balances, custody and the block of an account', async () => {
    const { subaccountId, address } = world.alice
    const { number, timestamp } = await world.client.getBlock()
    expect(await observe(subaccountId)).to.deep.equal({
      subaccountId,
      facts: {
        base: await balanceOf(world, subaccountId, world.at.wrapped_cngn),
        quote: await balanceOf(world, subaccountId, world.at.wrapped_usdc),
      },
      custodyOwner: address,
      leaving: false,
      blockNumber: number,
      blockTimeSec: Number(timestamp),
    })
    expect(balancesOf((await observe(subaccountId)).facts).base > 0n).to.equal(true)
  })

  it('tells what was true at the block that it is asked about', async () => {
    const id = await newAccount(world, world.bob)
    const { number, hash } = await world.client.getBlock()
    const data = encodeFunctionData({
      abi: matchingAbi,
      functionName: 'requestWithdrawAccount',
      args: [id],
    })
    await perform(world, { from: world.bob.address, to: world.at.matching, data })
    expect(await observe(id)).to.include({ leaving: true, custodyOwner: world.bob.address })
    expect(await observe(id, { number, hash })).to.include({ leaving: false, blockNumber: number })
  })

  it('tells that an account is not in custody, or is not there at all', async () => {
    const kept = await openAccount(world, world.carol.address, world.at.spot_manager)
    const observed = await observe(kept)
    expect(observed.facts).to.deep.equal({ base: 0n, quote: 0n })
    expect(observed.leaving).to.equal(false)
    expect(await observe(kept)).not.to.have.property('custodyOwner')
    expect(await observe(10n ** 9n)).not.to.have.property('custodyOwner')
  })

  it('rejects when the chain is silent or has no such block', async () => {
    const failed = await observe(1n, { hash: `0x${'9'.repeat(64)}` }).then(
      () => false,
      () => true,
    )
    expect(failed).to.equal(true)
  })

  it('keeps what was read for the time it was told, and says nothing when the chain is silent', async () => {
    const readerOf = (rpcUrl: string) =>
      createFundsReader({
        client: createChainClient(rpcUrl, 'probe'),
        deployment: deployment(),
        cacheMs: 60_000,
      })
    const reader = readerOf(world.anvil.rpcUrl)
    const first = await reader.readFunds(world.alice.subaccountId, market())
    expect(first).to.include({ subaccountId: world.alice.subaccountId, leaving: false })
    await world.client.mine({ blocks: 1 })
    expect(await reader.readFunds(world.alice.subaccountId, market())).to.equal(first)
    if (first === undefined) throw new Error('nothing was read')
    const newer = await reader.readNewer(first, market())
    expect(newer?.blockNumber).to.equal(first.blockNumber + 1n)
    expect(newer && (await reader.readNewer(newer, market()))).to.equal(newer)
    const silent = readerOf('http://127.0.0.1:1')
    expect(await silent.readFunds(1n, market())).to.equal(undefined)
    expect(await silent.readNewer(first, market())).to.equal(undefined)
  })

  it('reads what is behind a claim, a balance or margin headroom, at the block', async () => {
    const { wrapped_cngn: asset, spot_manager: manager, sub_accounts } = world.at
    const { subaccountId } = world.alice
    const client = createChainClient(world.anvil.rpcUrl, 'read')
    const read = createCapacityReader(client, sub_accounts)
    const keys = [balanceClaim(subaccountId, asset, 0n), marginClaim(manager, subaccountId)]
    const { hash } = await client.getBlock()
    const margin = await client.readContract({
      address: manager,
      abi: managerAbi,
      functionName: 'getMargin',
      args: [subaccountId, true],
    })
    const expected = [await balanceOf(world, subaccountId, asset), margin]
    expect(await read(keys, hash)).to.deep.equal(expected)
    expect(await read(keys)).to.deep.equal(expected)
    expect(await read([])).to.deep.equal([])
  })
})
