import { Exchange, type Dict } from 'ccxt'

/** The endpoints as methods: CCXT makes them at run time of `api` in description.ts. Answers are the venue's own bodies. */
export interface VenueApi {
  publicGetAccounts(params?: Dict): Promise<any>
  publicGetCandles(params?: Dict): Promise<any>
  publicGetFunding(params?: Dict): Promise<any>
  publicGetHealth(params?: Dict): Promise<any>
  publicGetLevels(params?: Dict): Promise<any>
  publicGetMarkets(params?: Dict): Promise<any>
  publicGetOrdersOrderId(params?: Dict): Promise<any>
  publicGetPositions(params?: Dict): Promise<any>
  publicGetTickers(params?: Dict): Promise<any>
  publicGetTime(params?: Dict): Promise<any>
  publicGetTrades(params?: Dict): Promise<any>
  publicGetVenue(params?: Dict): Promise<any>
  privateGetBalances(params?: Dict): Promise<any>
  privateGetFills(params?: Dict): Promise<any>
  privateGetOrders(params?: Dict): Promise<any>
  privatePostOrders(params?: Dict): Promise<any>
  privatePostOrdersBatch(params?: Dict): Promise<any>
  privatePostOrdersCancel(params?: Dict): Promise<any>
  privatePostOrdersCancelAll(params?: Dict): Promise<any>
  privatePostOrdersCancelAllAfter(params?: Dict): Promise<any>
  privatePostOrdersCancelList(params?: Dict): Promise<any>
  privatePostOrdersReplace(params?: Dict): Promise<any>
}

export abstract class VenueApi extends Exchange {}
