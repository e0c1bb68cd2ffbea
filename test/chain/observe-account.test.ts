import { expect } from 'chai'
import { encodeFunctionData } from 'viem'
import { matchingAbi } from '../../chain/abi/matching.js'
import { createChainClient } from '../../chain/client.js'
import { observeAccount } from '../../chain/observe-account.js'
import { createFundsReader } from '../../chain/read-funds.js'
import { balanceOf, newAccount, openAccount, openWorld, perform } from '../support/devnet-world.js'
import type { World } from '../support/devnet-world.js'

describe('observing an account on a chain', () => {
  let world: World

  before(async () => {
    world = await openWorld()
  })
  after(() => world.anvil.stop())

  const assets = () => ({
    assetAddress: world.at.wrapped_cngn,
    subId: 0n,
    quoteAssetAddress: world.at.wrapped_usdc,
  })
  const deployment = () => ({ matching: world.at.matching, subAccounts: world.at.sub_accounts })
  const observe = async (id: bigint, block = {}) => {
    const client = createChainClient(world.anvil.rpcUrl, 'read')
    const place = { ...(await client.getBlock()), ...block }
    return observeAccount({ client, deployment: deployment(), assets: assets() }, id, place)
  }

  it('tells balances, custody and the block of an account', async () => {
    const { subaccountId, address } = world.alice
    const { number, timestamp } = await world.client.getBlock()
    expect(await observe(subaccountId)).to.deep.equal({
      subaccountId,
      base: await balanceOf(world, subaccountId, world.at.wrapped_cngn),
      quote: await balanceOf(world, subaccountId, world.at.wrapped_usdc),
      custodyOwner: address,
      leaving: false,
      blockNumber: number,
      blockTimeSec: Number(timestamp),
    })
    expect((await observe(subaccountId)).base > 0n).to.equal(true)
  })

  it('tells what was true at the block that it is asked about', async () => {
    const id = await newAccount(world, world.bob)
    const { number } = await world.client.getBlock()
    const data = encodeFunctionData({
      abi: matchingAbi,
      functionName: 'requestWithdrawAccount',
      args: [id],
    })
    await perform(world, { from: world.bob.address, to: world.at.matching, data })
    expect(await observe(id)).to.include({ leaving: true, custodyOwner: world.bob.address })
    expect(await observe(id, { number })).to.include({ leaving: false, blockNumber: number })
  })

  it('tells that an account is not in custody, or is not there at all', async () => {
    const kept = await openAccount(world, world.carol.address, world.at.spot_manager)
    expect(await observe(kept)).to.include({ base: 0n, quote: 0n, leaving: false })
    expect(await observe(kept)).not.to.have.property('custodyOwner')
    expect(await observe(10n ** 9n)).not.to.have.property('custodyOwner')
  })

  it('rejects when the chain is silent or has no such block', async () => {
    const failed = await observe(1n, { number: 10n ** 9n }).then(
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
    const first = await reader.readFunds(world.alice.subaccountId, assets())
    expect(first).to.include({ subaccountId: world.alice.subaccountId, leaving: false })
    await world.client.mine({ blocks: 1 })
    expect(await reader.readFunds(world.alice.subaccountId, assets())).to.equal(first)
    const silent = readerOf('http://127.0.0.1:1')
    expect(await silent.readFunds(1n, assets())).to.equal(undefined)
  })
})
