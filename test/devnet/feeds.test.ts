import { expect } from 'chai'
import {
  encodeAbiParameters,
  encodeFunctionData,
  parseAbi,
  parseAbiParameters,
  parseEventLogs,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { perpAssetAbi } from '../../chain/abi/contracts.js'
import type { Address, Hex } from '../../core/action.js'
import { ANVIL_CHAIN_ID } from '../support/anvil.js'
import {
  administer,
  openWorld,
  perform,
  testKey,
  type Call,
  type World,
} from '../support/devnet-world.js'
import { e18, setPrices, stopTheClock } from '../support/perp-world.js'
import { describeOutcomes, type Row } from './revert-table.js'

const feedAbi = parseAbi([
  'function acceptData(bytes data)',
  'function addSigner(address signer, bool isWhitelisted)',
  'function setRequiredSigners(uint8 count)',
  'function setHeartbeat(uint64 heartbeat)',
  'event SpotPriceUpdated(uint96 spot, uint96 confidence, uint64 timestamp)',
  'event SpotDiffUpdated(int96 spotDiff, uint96 confidence, uint64 timestamp)',
])
const FEEDER = testKey(1004)
const OTHER = testKey(1005)

interface Update {
  readonly price: bigint
  readonly confidence?: bigint
  /** Seconds beyond the newest block. */
  readonly at?: bigint
  readonly deadlineIn?: bigint
  readonly signers?: readonly Hex[]
  readonly claimed?: Address
}

/** A call that updates a feed, built here from the public form of its data. */
async function update(world: World, feed: 'spot' | 'perp', terms: Update): Promise<Call> {
  const { price, confidence = e18('1'), at = 0n, deadlineIn = 60n, signers = [FEEDER] } = terms
  const address = feed === 'spot' ? world.at.spot_feed : world.at.perp_feed
  const type = feed === 'spot' ? 'uint96' : 'int96'
  const types = parseAbiParameters(`${type} price, uint64 confidence`)
  const data = encodeAbiParameters(types, [price, confidence])
  const timestamp = (await world.client.getBlock()).timestamp + at
  const deadline = timestamp + deadlineIn
  const signatures = signers.map((key) =>
    privateKeyToAccount(key).signTypedData({
      domain: {
        name: feed === 'spot' ? 'LyraSpotFeed' : 'LyraSpotDiffFeed',
        version: '1',
        chainId: ANVIL_CHAIN_ID,
        verifyingContract: address,
      },
      types: {
        FeedData: [
          { name: 'data', type: 'bytes' },
          { name: 'deadline', type: 'uint256' },
          { name: 'timestamp', type: 'uint64' },
        ],
      },
      primaryType: 'FeedData',
      message: { data, deadline, timestamp },
    }),
  )
  const signed = encodeAbiParameters(
    parseAbiParameters([
      'FeedData data',
      'struct FeedData { bytes data; uint256 deadline; uint64 timestamp; address[] signers; bytes[] signatures; }',
    ]),
    [
      {
        data,
        deadline,
        timestamp,
        signers: signers.map((key) => terms.claimed ?? privateKeyToAccount(key).address),
        signatures: await Promise.all(signatures),
      },
    ],
  )
  const call = encodeFunctionData({ abi: feedAbi, functionName: 'acceptData', args: [signed] })
  return { from: world.carol.address, to: address, data: call }
}

/** The newest block is a second newer than the feeds' prices. */
async function aSecondLater(world: World): Promise<void> {
  await stopTheClock(world)
  const { timestamp } = await world.client.getBlock()
  await world.client.setNextBlockTimestamp({ timestamp: timestamp + 1n })
  await world.client.mine({ blocks: 1 })
}

const PRICE = { price: e18('0.0007') }
const otherSigner = privateKeyToAccount(OTHER).address

const refused: readonly Row[] = [
  ['a price of any sender', 'success', (world) => update(world, 'spot', PRICE)],
  [
    'a confidence above one',
    'LSF_InvalidConfidence',
    (world) => update(world, 'spot', { ...PRICE, confidence: e18('1') + 1n }),
  ],
  [
    'a confidence above one of a difference',
    'LSDF_InvalidConfidence',
    (world) => update(world, 'perp', { price: 0n, confidence: e18('1') + 1n }),
  ],
  [
    'a price of the future',
    'BLF_InvalidTimestamp',
    (world) => update(world, 'spot', { ...PRICE, at: 5n }),
  ],
  [
    'a price after its deadline',
    'BLF_DataExpired',
    (world) => update(world, 'spot', { ...PRICE, deadlineIn: -1n }),
  ],
  [
    'a signer that the feed does not know',
    'BLF_InvalidSigner',
    (world) => update(world, 'spot', { ...PRICE, signers: [OTHER] }),
  ],
  [
    'a signature of another key',
    'BLF_InvalidSignature',
    (world) => update(world, 'spot', { ...PRICE, claimed: otherSigner }),
  ],
  [
    'one signer where two are required',
    'BLF_NotEnoughSigners',
    async (world) => {
      await administer(world, world.at.spot_feed, feedAbi, 'setRequiredSigners', 2)
      return update(world, 'spot', PRICE)
    },
  ],
  [
    'one signer twice',
    'BLF_DuplicatedSigner',
    (world) => update(world, 'spot', { ...PRICE, signers: [FEEDER, FEEDER] }),
  ],
  [
    'two signers where two are required',
    'success',
    async (world) => {
      await administer(world, world.at.spot_feed, feedAbi, 'setRequiredSigners', 2)
      await administer(world, world.at.spot_feed, feedAbi, 'addSigner', otherSigner, true)
      return update(world, 'spot', { ...PRICE, signers: [FEEDER, OTHER] })
    },
  ],
]

describeOutcomes('data for a feed', refused, aSecondLater)

describe('prices of the feeds', () => {
  let world: World

  before(async () => {
    world = await openWorld()
    await stopTheClock(world)
  })
  after(() => world.anvil.stop())

  const read = (functionName: 'getIndexPrice' | 'getPerpPrice' | 'getImpactPrices') =>
    world.client.readContract({ address: world.at.perp_asset, abi: perpAssetAbi, functionName })

  it('are the index, and differences to it', async () => {
    await setPrices(world, { index: '0.0007', mark: '0.00071', bid: '0.00069', ask: '0.00072' })
    expect(await read('getIndexPrice')).to.deep.equal([e18('0.0007'), e18('1')])
    expect(await read('getPerpPrice')).to.deep.equal([e18('0.00071'), e18('1')])
    expect(await read('getImpactPrices')).to.deep.equal([e18('0.00069'), e18('0.00072')])
  })

  it('are at most a tenth away from the index', async () => {
    await setPrices(world, { index: '0.0007', mark: '0.0009', bid: '0.0001', ask: '0.0009' })
    expect(await read('getPerpPrice')).to.deep.equal([e18('0.00077'), e18('1')])
    expect(await read('getImpactPrices')).to.deep.equal([e18('0.00063'), e18('0.00077')])
  })

  it('follow the index until their own difference changes', async () => {
    await setPrices(world, { index: '0.0007', mark: '0.00071' })
    const { timestamp } = await world.client.getBlock()
    await world.client.setNextBlockTimestamp({ timestamp: timestamp + 1n })
    await world.client.mine({ blocks: 1 })
    await perform(world, await update(world, 'spot', { price: e18('0.0008'), confidence: 5n }))
    expect(await read('getPerpPrice')).to.deep.equal([e18('0.00081'), 5n])
  })

  it('stay when older data arrives, which is not an error', async () => {
    await setPrices(world, { index: '0.0007' })
    const older = await update(world, 'spot', { price: e18('0.0001'), at: -60n, deadlineIn: 999n })
    const { logs } = await perform(world, older)
    expect(parseEventLogs({ abi: feedAbi, logs })).to.deep.equal([])
    expect(await read('getIndexPrice')).to.deep.equal([e18('0.0007'), e18('1')])
  })
})
