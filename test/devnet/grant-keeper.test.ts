import { expect } from 'chai'
import { futureAssetAbi } from '../../chain/abi/contracts.js'
import { grantKeeper } from '../../devnet/chain/grant-keeper.js'
import { ANVIL_KEY } from '../support/anvil.js'
import { openWorld, type World } from '../support/devnet-world.js'

describe('the keeper of a devnet that an earlier build made', () => {
  let world: World
  before(async () => {
    world = await openWorld()
  })
  after(() => world.anvil.stop())

  it('gets the roles of mark keeper and series creator and gas money, once', async () => {
    const keeper = `0x${'ab'.repeat(20)}` as const
    const { future_asset: futureAsset, deployer } = world.at
    const sent = () => world.client.getTransactionCount({ address: deployer })
    const before = await sent()
    for (let start = 0; start < 2; start += 1)
      await grantKeeper({ rpcUrl: world.anvil.rpcUrl, futureAsset, keeper, ownerKey: ANVIL_KEY })
    for (const functionName of ['markKeeper', 'seriesCreator'] as const) {
      const call = { address: futureAsset, abi: futureAssetAbi, functionName } as const
      expect((await world.client.readContract(call)).toLowerCase()).to.equal(keeper)
    }
    expect(await world.client.getBalance({ address: keeper })).to.equal(100n * 10n ** 18n)
    expect((await sent()) - before).to.equal(3)
  })
})
