import { expect } from 'chai'
import type { Address, Hex, TradeData } from '../../core/action.js'
import { encodeTradeData } from '../../core/entry/read-action.js'
import { loadMarkets } from '../../data/markets.js'
import { createTermsCheck, executePayload } from '../../executor/payload.js'
import { aFuture } from '../support/builders.js'

const address = (byte: string): Address => `0x${byte.repeat(20)}`
const ASSET = address('c1')
const MODULE = address('e1')
const { markets } = loadMarkets({
  wrapped_cngn: ASSET,
  wrapped_usdc: address('c2'),
  spot_trade_module: MODULE,
  spot_manager: address('d1'),
})
const E18 = 10n ** 18n
/** 0.00065 USDC for a cNGN. */
const PRICE = 650_000_000_000_000n
/** 10,000 cNGN cost 6.5 USDC; 25 basis points of that. */
const AMOUNT = 10_000n * E18
const FEE = (65n * E18 * 25n) / 100_000n

function action(subaccountId: string, isBid: boolean, trade: Partial<TradeData> = {}) {
  const terms = { asset: ASSET, subId: 0n, limitPrice: PRICE, desiredAmount: AMOUNT, worstFee: E18 }
  const data: Hex = encodeTradeData({
    ...terms,
    recipientId: BigInt(subaccountId),
    isBid,
    ...trade,
  })
  const owner = address('aa')
  const head = { subaccount_id: subaccountId, nonce: '1', module: MODULE, data }
  return { ...head, expiry: '4102444800', owner, signer: owner }
}

function aBody(makers = [action('8', false)]) {
  const signatures = [`0x${'5a'.repeat(65)}`, ...makers.map(() => `0x${'5b'.repeat(65)}`)]
  return {
    market: 'cNGN-USDC',
    asset_address: ASSET as string,
    module_address: MODULE as string,
    maker_order_id: 'maker',
    taker_order_id: 'taker',
    actions: [action('7', true), ...makers],
    signatures,
    order_data: {
      taker_account: '7',
      taker_fee: `${FEE * BigInt(makers.length)}`,
      fill_details: makers.map(({ subaccount_id }) => ({
        filled_account: subaccount_id,
        amount_filled: `${AMOUNT}`,
        price: `${PRICE}`,
        fee: '0',
      })),
      manager_data: '0x',
    },
  }
}

type Body = ReturnType<typeof aBody>

const objections = (body: Body) => createTermsCheck(markets)(executePayload.parse(body))

describe('terms of a settlement', () => {
  it('agree when price and fees follow from the orders and the schedule', () => {
    expect(objections(aBody())).to.deep.equal([])
    expect(objections(aBody([action('8', false), action('9', false)]))).to.deep.equal([])
  })

  it('round the fee down at both steps, for each fill by itself', () => {
    const body = aBody([action('8', false), action('9', false)])
    const amount = 461_539n
    const each = (((PRICE * amount) / E18) * 25n) / 10_000n
    expect((((2n * PRICE * amount) / E18) * 25n) / 10_000n).to.not.equal(2n * each)
    body.order_data.fill_details.forEach((fill) => (fill.amount_filled = `${amount}`))
    body.order_data.taker_fee = `${2n * each}`
    expect(objections(body)).to.deep.equal([])
  })

  const spoilt: Record<string, { spoil: (body: Body) => void; field: string; message: string }> = {
    'another market': {
      spoil: (b) => (b.market = 'USDC-cNGN'),
      field: 'market',
      message: 'is not settled here',
    },
    'an alias of the market': {
      spoil: (b) => (b.market = 'USDCcNGN-SPOT'),
      field: 'market',
      message: 'is not settled here',
    },
    'another asset': {
      spoil: (b) => {
        b.asset_address = address('c2')
        b.actions = [
          action('7', true, { asset: address('c2') }),
          action('8', false, { asset: address('c2') }),
        ]
      },
      field: 'asset_address',
      message: `must be the market's ${ASSET}`,
    },
    'another module': {
      spoil: (b) => {
        b.module_address = address('e2')
        b.actions.forEach((one) => (one.module = address('e2')))
      },
      field: 'module_address',
      message: `must be the market's ${MODULE}`,
    },
    'another sub id': {
      spoil: (b) => (b.actions[1] = action('8', false, { subId: 1n })),
      field: 'actions.1.data',
      message: 'must name sub id 0',
    },
    'a price beyond the limit of the maker': {
      spoil: (b) => (b.actions[1] = action('8', false, { limitPrice: PRICE + 1n })),
      field: 'order_data.fill_details.0.price',
      message: `must be within the maker's signed limit price ${PRICE + 1n}`,
    },
    'a fee for the maker': {
      spoil: (b) => (b.order_data.fill_details[0]!.fee = '1'),
      field: 'order_data.fill_details.0.fee',
      message: 'must be 0',
    },
    'a fee above the schedule': {
      spoil: (b) => (b.order_data.taker_fee = `${FEE + 1n}`),
      field: 'order_data.taker_fee',
      message: 'must be the fee at a whole rate of 0 to 10000 basis points',
    },
    'a fee below the schedule': {
      spoil: (b) => (b.order_data.taker_fee = `${FEE - 1n}`),
      field: 'order_data.taker_fee',
      message: 'must be the fee at a whole rate of 0 to 10000 basis points',
    },
  }

  for (const [name, { spoil, field, message }] of Object.entries(spoilt)) {
    it(`are refused with ${name}`, () => {
      const body = aBody()
      spoil(body)
      expect(objections(body).map((each) => [each.field, each.message])).to.deep.equal([
        [field, message],
      ])
    })
  }

  it('are the venue’s fault where the market itself is another here, and an order’s where its limit is', () => {
    const blamed = Object.entries(spoilt).filter(([, { spoil }]) => {
      const body = aBody()
      spoil(body)
      return objections(body).every(({ guilty }) => guilty === 'venue')
    })
    const names = Object.keys(spoilt)
    expect(blamed.map(([name]) => name)).to.deep.equal(
      names.filter((name) => name !== 'a price beyond the limit of the maker'),
    )
  })

  it('count the fee of a future by its size, of which the chain has thousandths', () => {
    const market = aFuture()
    const { assetAddress: asset, tradeModuleAddress: module, subId } = market
    const price = 1_500n * E18
    const signed = (id: string, isBid: boolean) => {
      const trade = { asset, subId, limitPrice: price, desiredAmount: 2n * E18 }
      return { ...action(id, isBid, trade), module }
    }
    const body = aBody([signed('8', false)])
    Object.assign(body, { market: market.market, asset_address: asset, module_address: module })
    body.actions[0] = signed('7', true)
    const [fill] = body.order_data.fill_details
    Object.assign(fill!, { amount_filled: `${2n * E18}`, price: `${price}` })
    const found = (fee: bigint) => {
      body.order_data.taker_fee = `${fee}`
      return createTermsCheck([market])(executePayload.parse(body)).map(({ field }) => field)
    }
    expect(found(5n * E18)).to.deep.equal([])
    expect(found(5n * E18 + 1n)).to.deep.equal(['order_data.taker_fee'])
    // Of the contracts as if they were sizes: no whole rate of 2,000 USDC.
    expect(found((5n * E18) / 1_000n)).to.deep.equal(['order_data.taker_fee'])
  })
})
