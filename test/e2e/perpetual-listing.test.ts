import { expect } from 'chai'
import {
  createTestClient,
  encodeFunctionData,
  http,
  parseAbi,
  publicActions,
  walletActions,
  type Address,
} from 'viem'
import { createRestClient } from '../../client/index.js'
import type { MarketEntry, TradingStatus } from '../../interface/market.js'
import type { BookRecord } from '../../interface/order.js'
import { eventually } from '../support/eventually.js'
import { connectSocket } from '../support/socket-client.js'
import { publishPrices } from '../support/venue-prices.js'
import { SPOT_AND_PERP, startVenue, type TestVenue } from '../support/venue.js'

const PERP = 'cNGN-PERP'
const TOKEN = 'the token of the index'
/** A day from now on, in whole seconds. */
const ALIASES_END = new Date((Math.floor(Date.now() / 1_000) + 86_400) * 1_000)
/** The cache of ten seconds, the look of each process, and a busy machine. */
const SHOWN_WITHIN_MS = 60_000

const admin = parseAbi([
  'function guardian() view returns (address)',
  'function owner() view returns (address)',
  'function setAdjustmentsPaused(bool paused)',
  'function setAllowedModule(address module, bool allowed)',
  'function setTotalPositionCap(address manager, uint256 cap)',
  'function setFeeRecipient(uint256 account)',
  'function setHeartbeat(uint64 heartbeat)',
  'function feeRecipient() view returns (uint256)',
])
type Call = Omit<Parameters<typeof encodeFunctionData<typeof admin>>[0], 'abi'>

describe('the perpetual on a running venue, beside spot', function () {
  let venue: TestVenue
  before(async () => {
    venue = await startVenue({
      blockTime: 1,
      feeder: true,
      markets: SPOT_AND_PERP,
      env: {
        INDEX_LAG: 'watch',
        INDEX_STATUS_SECRET: TOKEN,
        ALIAS_CUTOFF: ALIASES_END.toISOString(),
      },
    })
  })
  after(async () => {
    await venue?.stop()
  })

  const chain = () =>
    createTestClient({ mode: 'anvil', transport: http(venue.devnet.rpc_url) })
      .extend(publicActions)
      .extend(walletActions)
  /** Calls a contract as the account that may; the chain is a development chain. */
  async function administer(to: Address, call: Call): Promise<void> {
    const client = chain()
    const functionName = call.functionName === 'setAdjustmentsPaused' ? 'guardian' : 'owner'
    const account = await client.readContract({ address: to, abi: admin, functionName })
    await client.impersonateAccount({ address: account })
    const data = encodeFunctionData({ abi: admin, ...call })
    const hash = await client.sendTransaction({ account, to, data, chain: null })
    await eventually(async () => {
      expect((await client.getTransactionReceipt({ hash })).status).to.equal('success')
    }, SHOWN_WITHIN_MS)
  }

  const get = async (path: string): Promise<Response> => fetch(new URL(path, venue.gatewayUrl))
  const entryIn = async (path: string): Promise<MarketEntry> => {
    const body = (await (await get(path)).json()) as { market_presentation: MarketEntry }
    return body.market_presentation
  }
  const listed = async (name = PERP): Promise<MarketEntry> => {
    const entry = (await createRestClient(venue.gatewayUrl).markets()).find(
      ({ market }) => market === name,
    )
    if (entry === undefined) throw new Error(`${name} is not listed`)
    return entry
  }

  it('is listed field by field as the chain has it', async () => {
    await publishPrices(venue, { index: '0.0006', mark: '0.00061', bid: '0.0006', ask: '0.0006' })
    const { devnet } = venue
    const addresses = {
      trade_module_address: devnet.perp_trade_module,
      quote_asset_address: devnet.cash_asset,
      margin_manager_address: devnet.perp_manager,
    }
    await eventually(async () => {
      const entry = await listed()
      expect(entry).to.deep.include({
        market: PERP,
        contract_type: 'perpetual',
        settlement_type: 'cash_settled_perpetual',
        aliases: ['USDCcNGN-PERP'],
        asset_address: devnet.perp_asset,
        sub_id: '0',
        order_entry_spec: 'cngn_usdc_perp_v1',
        engine_side_policy: 'same_as_ui',
        ui_size_unit: 'cNGN contracts',
        min_size: '1',
        taker_fee_bps: 25,
        display_label: 'USDC per cNGN',
        contract_multiplier: '1',
        ...addresses,
        trading_status: 'open',
      })
      const { updated_at, index_lag, collateral_assets, ...perp } = entry.perp ?? {}
      expect(updated_at).to.be.a('number')
      expect(index_lag).to.deep.equal({ enforced: false, max_bps: 100 })
      expect(perp).to.deep.equal({
        mark_price: '0.00061',
        index_price: '0.0006',
        price_status: 'ok',
        mark_price_ui: '0.00061',
        index_price_ui: '0.0006',
        // The interest of an hour, without a premium.
        funding_rate_1h: '0.0000125',
        ui_long_funding_rate_1h: '0.0000125',
        funding_interval_seconds: 3600,
        open_interest: '0',
        open_interest_usd: '0',
        open_interest_cap: '5000000000',
        total_position: '0',
        position_cap: '10000000000',
        initial_margin_rate: '0.1',
        maintenance_margin_rate: '0.065',
        max_leverage: '10',
        trading_enabled: true,
        paused: false,
        ...addresses,
      })
      expect(collateral_assets).to.have.length(1)
      expect(collateral_assets?.[0]).to.include({
        symbol: 'cNGN',
        asset_address: devnet.wrapped_cngn,
        cap: '1000000000',
        margin_factor: '0.8',
        im_scale: '0.9',
        deposits_open: true,
      })
    }, SHOWN_WITHIN_MS)
    expect((await listed('cNGN-USDC')).perp).to.equal(undefined)
  })

  it('is shown so in book, trades, candles and the snapshot of a socket, by each of its names', async () => {
    const shown = (await listed()).perp
    for (const path of ['book', 'trades', 'candles']) {
      const { perp } = await entryIn(`/v1/${path}?symbol=${PERP}`)
      expect({ ...perp, updated_at: 0 }, path).to.deep.equal({ ...shown, updated_at: 0 })
      const old = await get(`/v1/${path}?symbol=USDCcNGN-PERP`)
      expect(old.status).to.equal(200)
      expect(old.headers.get('deprecation')).to.equal('true')
      expect(old.headers.get('sunset')).to.equal(ALIASES_END.toUTCString())
      expect(old.headers.get('x-canonical-market')).to.equal(PERP)
    }
    // The fan-out reads the chain for itself: its copy may be older than the gateway's by the ten seconds of a cache.
    await eventually(async () => {
      const client = await connectSocket(`${venue.gatewayUrl.replace('http', 'ws')}/v1/ws`)
      client.send({ op: 'subscribe', channel: 'book', market: 'USDCcNGN-PERP' })
      const frame = await client.next(({ type }) => type === 'snapshot')
      client.ws.terminate()
      const { perp } = (frame.data as BookRecord).market_presentation
      expect({ ...perp, updated_at: 0 }).to.deep.equal({ ...shown, updated_at: 0 })
      expect(perp?.updated_at).to.be.a('number')
    }, SHOWN_WITHIN_MS)
  })

  it('takes samples of the index over HTTP, and shows the lag', async () => {
    const report = async (token: string) =>
      fetch(new URL('/v1/internal/index-status', venue.gatewayUrl), {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-index-token': token },
        body: JSON.stringify({ at_ms: Date.now(), usdc_per_cngn: '0.000612', sample_ok: true }),
      })
    expect((await report('another')).status).to.equal(401)
    const taken = await report(TOKEN)
    expect([taken.status, await taken.text()]).to.deep.equal([204, ''])
    await eventually(async () => {
      expect((await listed()).perp?.index_lag).to.include({
        lag_bps: 200,
        spot_usdc_per_cngn: '0.000612',
      })
    }, SHOWN_WITHIN_MS)
  })

  it('says with the next request that it is paused (PER-001, PER-010)', async () => {
    const pause = (isPaused: boolean) =>
      administer(venue.devnet.perp_manager, {
        functionName: 'setAdjustmentsPaused',
        args: [isPaused],
      })
    await pause(true)
    const paused = { paused: true, trading_enabled: false }
    expect((await listed()).perp).to.include(paused)
    expect((await entryIn(`/v1/book?symbol=${PERP}`)).perp).to.include(paused)
    await pause(false)
    expect((await listed()).perp).to.include({ paused: false, trading_enabled: true })
  })

  interface Fault {
    readonly reasons: readonly string[]
    readonly set: (isOn: boolean) => Promise<void>
  }
  const faults: Record<string, Fault> = {
    'a pause of its manager': {
      reasons: ['trading_paused', 'BM_AdjustmentsPaused'],
      set: (isOn) =>
        administer(venue.devnet.perp_manager, {
          functionName: 'setAdjustmentsPaused',
          args: [isOn],
        }),
    },
    'a module that is not allowed': {
      reasons: ['trading_disabled', 'M_OnlyAllowedModule'],
      set: (isOn) =>
        administer(venue.devnet.matching, {
          functionName: 'setAllowedModule',
          args: [venue.devnet.perp_trade_module, !isOn],
        }),
    },
    'a cap of nothing': {
      reasons: ['trading_disabled'],
      set: (isOn) =>
        administer(venue.devnet.perp_asset, {
          functionName: 'setTotalPositionCap',
          args: [venue.devnet.perp_manager, isOn ? 0n : 10n ** 28n],
        }),
    },
    'prices that are too old': {
      reasons: ['prices_stale'],
      set: (isOn) =>
        administer(venue.devnet.perp_feed, {
          functionName: 'setHeartbeat',
          args: [isOn ? 0n : 180n],
        }),
    },
    'a module without an account for its fees': {
      reasons: ['MW_UnknownManager'],
      set: (isOn) =>
        administer(venue.devnet.perp_trade_module, {
          functionName: 'setFeeRecipient',
          args: [isOn ? 0n : feeAccount],
        }),
    },
  }
  let feeAccount = 0n

  for (const [name, { reasons, set }] of Object.entries(faults)) {
    it(`is held for ${name}, alone, which shows, and goes on afterwards`, async () => {
      feeAccount ||= await chain().readContract({
        address: venue.devnet.perp_trade_module,
        abi: admin,
        functionName: 'feeRecipient',
      })
      const standings = async () => {
        const { markets } = await createRestClient(venue.gatewayUrl).health()
        const ready = (await (await get('/readyz')).json()) as {
          markets?: Record<string, TradingStatus>
        }
        const { trading_status, trading_status_reason } = markets[PERP] ?? {}
        const entry = await listed()
        return {
          perp: [trading_status, trading_status_reason],
          entry: [entry.trading_status, entry.trading_status_reason],
          spot: markets['cNGN-USDC']?.trading_status,
          readiness: ready.markets ?? {},
        }
      }
      await set(true)
      await eventually(async () => {
        const { perp, entry, spot, readiness } = await standings()
        expect(perp[0]).to.equal('held')
        expect(reasons).to.include(perp[1])
        expect(entry).to.deep.equal(perp)
        expect(spot).to.equal('open')
        expect(Object.keys(readiness)).to.deep.equal([PERP])
        expect(reasons).to.include(readiness[PERP]?.trading_status_reason)
      }, SHOWN_WITHIN_MS)
      await set(false)
      await eventually(async () => {
        expect(await standings()).to.deep.equal({
          perp: ['open', undefined],
          entry: ['open', undefined],
          spot: 'open',
          readiness: {},
        })
      }, SHOWN_WITHIN_MS)
    })
  }
})
