// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {ICappedAsset} from "../interfaces.sol";

// Smallest part of a contract that a position may hold: a thousandth, 1 USDC of notional. Positions are multiples of
// it, so that size times a change of the mark is exact.
uint256 constant POSITION_STEP = 1e15;
// Units of base asset per contract.
uint256 constant CONTRACT_MULTIPLIER = 1000;
// 1.0 of prices, rates and balances.
uint256 constant ONE = 1e18;

/// The index of all series: a signed feed in the form of the spot feed, in cNGN per USDC.
interface IIndexFeed {
    /// The newest price at 1e18, with the second at which it was signed.
    function spotDetail() external view returns (uint96 price, uint64 confidence, uint64 timestamp);

    /// Seconds after which a price is stale.
    function heartbeat() external view returns (uint64);
}

interface IFutureAsset is ICappedAsset {
    /// The index at 1e18. Reverts with BLF_DataTooOld while it is stale.
    function getIndexPrice() external view returns (uint256 price);

    /// The last known index and its confidence, both at 1e18, and whether it counts. Never reverts.
    function indexDetail() external view returns (uint256 price, uint256 confidence, bool isFresh);

    /// The price at which positions are valued: the mark, after settlement the settlement price. `round` counts the
    /// changes of it, from 1. Reverts with FA_UnknownSeries.
    function valuation(uint256 subId) external view returns (uint256 price, uint64 round, bool isSettled);

    /// Series that may have open positions; at most MAX_OPEN_SERIES.
    function openSeries() external view returns (uint256[] memory subIds);

    /// Whether the series is in its trading time. Reverts with FA_UnknownSeries.
    function isTrading(uint256 subId) external view returns (bool);

    /// Status 0: fills from `low` to `high` are allowed; 1: the index is stale, no fill is; 2: no such series.
    function band(uint256 subId)
        external
        view
        returns (uint256 index, uint256 width, uint256 low, uint256 high, uint8 status);
}

interface IFuturesManager {
    /// Called by a future asset before the position of an account of this manager changes.
    function onPositionChange(uint256 accountId, uint256 subId, int256 pre, int256 post) external;

    /// Called by the trade module for each fill: books what a fill at `price` instead of the mark is worth.
    function recordFill(uint256 subId, uint256 buyer, uint256 seller, uint256 amount, int256 price)
        external
        returns (uint256 mark, int256 buyerVariation);

    /// Moves a portion of a position to the account `by`, whose NFT the caller owns.
    function liquidate(uint256 id, uint256 subId, uint256 by, uint256 portion)
        external
        returns (int256 contracts, uint256 bonus);
}
