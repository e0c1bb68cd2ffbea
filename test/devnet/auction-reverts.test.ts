import { encodeFunctionData } from 'viem'
import { e18, openPerpAccount, setPrices, stopTheClock, trade } from '../support/perp-world.js'
import { auctionAbi, auctionCall, bidCall, type BidTerms } from '../support/auction-calls.js'
import { perform, type Call, type Trader, type World } from '../support/devnet-world.js'
import { describeOutcomes, type Row } from './revert-table.js'

let bidder: Trader
let account: Trader

/** Carol is long by a million contracts with 100 USDC, and Alice may bid. */
async function prepare(world: World): Promise<void> {
  await stopTheClock(world)
  const dealer = await openPerpAccount(world, world.bob, { cash: 1_000_000 })
  bidder = await openPerpAccount(world, world.alice, { cash: 1_000, cngn: 1 })
  account = await openPerpAccount(world, world.carol, { cash: 100 })
  await trade(world, { buyer: account, seller: dealer, size: 1_000_000 })
}

async function start(world: World, index: string): Promise<void> {
  await setPrices(world, { index })
  await perform(world, auctionCall(world, 'startAuction', account))
}

/** A bid for all of the account in a solvent auction that has just begun. */
async function bid(world: World, different: Partial<BidTerms> = {}): Promise<Call> {
  await start(world, '0.00058')
  return bidCall(world, { bidder, account, cash: e18('200'), ...different })
}

/** A bid past LiquidateModule, from an account that the bidder holds itself. */
function directBid(world: World, bidderId: bigint, percent = e18('1')): Call {
  const args = [account.subaccountId, bidderId, percent, 0n, 0n] as const
  const data = encodeFunctionData({ abi: auctionAbi, functionName: 'bid', args })
  return { from: world.alice.address, to: world.at.dutch_auction, data }
}

const starts: readonly Row[] = [
  [
    'an account above its maintenance margin',
    'DA_AccountIsAboveMaintenanceMargin',
    (world) => auctionCall(world, 'startAuction', account),
  ],
  [
    'an account of a manager without auctions',
    'DA_NotWhitelistedManager',
    (world) => auctionCall(world, 'startAuction', world.carol),
  ],
  [
    'an account under auction',
    'DA_AuctionAlreadyStarted',
    async (world) => {
      await start(world, '0.00058')
      return auctionCall(world, 'startAuction', account)
    },
  ],
  [
    'a conversion of an auction that was not started',
    'DA_AuctionNotStarted',
    (world) => auctionCall(world, 'convertToInsolventAuction', account),
  ],
  [
    'a conversion before the solvent auction is over',
    'DA_OngoingSolventAuction',
    async (world) => {
      await start(world, '0.00058')
      return auctionCall(world, 'convertToInsolventAuction', account)
    },
  ],
  [
    'an end before the account has recovered',
    'DA_AuctionCannotTerminate',
    async (world) => {
      await start(world, '0.00058')
      return auctionCall(world, 'terminateAuction', account)
    },
  ],
  [
    'an end of an auction that was not started',
    'DA_NotOngoingAuction',
    (world) => auctionCall(world, 'terminateAuction', account),
  ],
]

const bids: readonly Row[] = [
  ['a bid for all that is for sale', 'success', (world) => bid(world)],
  [
    'a bid after the account has recovered',
    'DA_AuctionShouldBeTerminated',
    async (world) => {
      const call = await bid(world)
      await setPrices(world, { index: '0.00065' })
      return call
    },
  ],
  [
    'too little cash to pay and to keep what is bought',
    'DA_InsufficientCash',
    (world) => bid(world, { cash: e18('10') }),
  ],
  ['no cash at all', 'DA_InvalidBidderPortfolio', (world) => bid(world, { cash: 0n })],
  [
    'a price above the limit of the bidder',
    'DA_PriceLimitExceeded',
    (world) => bid(world, { priceLimit: e18('9') }),
  ],
  ['a price within it', 'success', (world) => bid(world, { priceLimit: e18('9.2') })],
  [
    'an insolvent account for less than the bidder demands',
    'DA_PriceLimitExceeded',
    async (world) => {
      await start(world, '0.0005')
      return bidCall(world, { bidder, account, cash: e18('100'), priceLimit: e18('-82.5') })
    },
  ],
  [
    'an account that changed since the bidder saw it',
    'DA_InvalidLastTradeId',
    (world) => bid(world, { lastSeenTradeId: 1n }),
  ],
  [
    'more than the whole account',
    'DA_InvalidPercentage',
    (world) => bid(world, { portion: e18('1') + 1n }),
  ],
  [
    'a bid while no auction is live',
    'DA_NotOngoingAuction',
    (world) => bidCall(world, { bidder, account, cash: e18('200') }),
  ],
  [
    'a bid for no account of its own',
    'LM_InvalidFromAccount',
    (world) => bidCall(world, { bidder, account, cash: 0n }, { subaccountId: 0n }),
  ],
  [
    'more cash than the account of the bidder has',
    'SRM_NoNegativeCash',
    (world) => bid(world, { cash: e18('1001') }),
  ],
  [
    'a bid from an account that the caller does not hold',
    'DA_SenderNotOwner',
    async (world) => {
      await start(world, '0.00058')
      return directBid(world, bidder.subaccountId)
    },
  ],
  [
    'a bid from an account of another manager',
    'DA_CannotBidWithDifferentManager',
    async (world) => {
      await start(world, '0.00058')
      return directBid(world, world.alice.subaccountId)
    },
  ],
]

describeOutcomes('starting and ending an auction', starts, prepare)
describeOutcomes('bidding in an auction', bids, prepare)
