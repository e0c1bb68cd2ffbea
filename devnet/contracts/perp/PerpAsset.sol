// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {SignedMath} from "@openzeppelin/contracts/utils/math/SignedMath.sol";
import {FixedPoint} from "../FixedPoint.sol";
import {IPerpAsset, ISubAccounts} from "../interfaces.sol";
import {ManagedAsset} from "../ManagedAsset.sol";
import {PositionTracking} from "../PositionTracking.sol";
import {PerpPrices} from "./PerpPrices.sol";

/// A perpetual: balances are contracts with 18 decimals, positive for longs. Each change settles the position's profit
/// against the mark and its funding; the account's manager turns both into cash. There is no entry price.
contract PerpAsset is IPerpAsset, ManagedAsset, PositionTracking, PerpPrices {
    using FixedPoint for int256;
    using SafeCast for int256;
    using SafeCast for uint256;

    struct PositionDetail {
        uint256 lastMarkPrice;
        int256 funding;
        int256 pnl;
        int256 lastAggregatedFunding;
        /// Never written.
        uint256 lastFundingPaid;
    }

    mapping(uint256 accountId => PositionDetail) public positions;
    /// Sum of the long positions of all managers.
    mapping(uint256 subId => uint256) public openInterest;

    event FundingAppliedOnAccount(uint256 accountId, int256 funding, int256 aggregatedFundingRate);
    event PositionCleared(uint256 indexed account);
    event PositionSettled(uint256 indexed account, int256 pnlChange, int256 totalPnl, uint256 perpPrice);

    error PA_InvalidSubId();
    error PA_WrongManager();

    constructor(ISubAccounts subAccounts_) ManagedAsset(subAccounts_) {}

    function handleAdjustment(uint256 accountId, uint256 subId, int256 amount, int256 preBalance, uint256 tradeId)
        external
        onlyAccounts
        returns (int256 postBalance, bool needsAllowance)
    {
        if (subId != 0) revert PA_InvalidSubId();
        address manager = _knownManager(accountId);
        postBalance = preBalance + amount;
        _track(manager, preBalance, postBalance, tradeId);
        _realize(accountId, preBalance);
        openInterest[subId] = openInterest[subId] + _long(postBalance) - _long(preBalance);
        return (postBalance, true);
    }

    function realizeAccountPNL(uint256 accountId) external {
        _realize(accountId, _size(accountId));
    }

    function settleRealizedPNLAndFunding(uint256 accountId) external returns (int256 pnl, int256 funding) {
        if (msg.sender != subAccounts.manager(accountId)) revert PA_WrongManager();
        _updateFunding();
        PositionDetail storage position = positions[accountId];
        _applyFunding(accountId, position, _size(accountId));
        (pnl, funding) = (position.pnl, position.funding);
        (position.pnl, position.funding) = (0, 0);
        emit PositionCleared(accountId);
    }

    function getUnsettledAndUnrealizedCash(uint256 accountId) external view returns (int256 totalCash) {
        PositionDetail memory position = positions[accountId];
        int256 size = _size(accountId);
        (int256 aggregated,) = _fundingNow();
        (uint256 mark,) = getPerpPrice();
        int256 unrealized = _profit(position.lastMarkPrice, mark, size);
        int256 accrued = -size.mul(aggregated - position.lastAggregatedFunding);
        return unrealized + accrued + position.pnl + position.funding;
    }

    /// Settles the time and the price since the last touch of a position of this size.
    function _realize(uint256 accountId, int256 size) private {
        _updateFunding();
        PositionDetail storage position = positions[accountId];
        _applyFunding(accountId, position, size);
        (uint256 mark,) = getPerpPrice();
        int256 pnl = _profit(position.lastMarkPrice, mark, size);
        position.lastMarkPrice = mark;
        position.pnl += pnl;
        emit PositionSettled(accountId, pnl, position.pnl, mark);
    }

    function _applyFunding(uint256 accountId, PositionDetail storage position, int256 size) private {
        int256 funding = -size.mul(aggregatedFunding - position.lastAggregatedFunding);
        position.funding += funding;
        position.lastAggregatedFunding = aggregatedFunding;
        emit FundingAppliedOnAccount(accountId, funding, aggregatedFunding);
    }

    function _profit(uint256 lastMark, uint256 mark, int256 size) private pure returns (int256) {
        return (mark.toInt256() - lastMark.toInt256()).mul(size);
    }

    function _size(uint256 accountId) private view returns (int256) {
        return subAccounts.getBalance(accountId, address(this), 0);
    }

    function _long(int256 balance) private pure returns (uint256) {
        return SignedMath.max(0, balance).toUint256();
    }
}
