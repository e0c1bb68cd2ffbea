// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {AssetTransfer, IMatching, ISubAccounts} from "../interfaces.sol";
import {TradeModule} from "../TradeModule.sol";
import {IFutureAsset, IFuturesManager} from "./interfaces.sol";

/// Settles matches in dated futures. Signed orders, checks and their order are those of TradeModule; amounts are
/// contracts at 1e18, prices cNGN per USDC, fees and fee bounds USDC, a bound per contract. A fill moves the position and
/// the fees; what its price differs from the mark is variation margin in cNGN, which the manager books.
contract FutureTradeModule is TradeModule {
    using SafeCast for uint256;

    /// The asset whose series are traded here.
    IFutureAsset public immutable futureAsset;
    /// Books the variation margin of fills; all accounts of a fill are under it.
    IFuturesManager public immutable manager;

    /// One for each fill. `takerVm` and `makerVm` are cNGN, positive for the side that receives.
    event FutureMatched(
        address asset,
        uint256 subId,
        uint256 taker,
        uint256 maker,
        bool takerIsBid,
        uint256 amount,
        int256 price,
        uint256 mark,
        int256 takerVm,
        int256 makerVm
    );

    error FT_IndexStale();
    error FT_OutsideFillBand();
    error FT_TradingEnded();

    constructor(
        IMatching matching_,
        ISubAccounts subAccounts_,
        address wrappedUsdc,
        IFutureAsset futureAsset_,
        IFuturesManager manager_
    ) TradeModule(matching_, subAccounts_, wrappedUsdc) {
        futureAsset = futureAsset_;
        manager = manager_;
    }

    /// The series must trade and its index must be fresh. A position goes to the account that signed, to no other.
    function _checkTaker(Order memory taker) internal view override {
        if (taker.trade.asset != address(futureAsset)) revert TM_AssetMismatch();
        if (taker.trade.recipientId != taker.subaccountId) revert TM_InvalidRecipientId();
        if (!futureAsset.isTrading(taker.trade.subId)) revert FT_TradingEnded();
        (,,,, uint8 status) = futureAsset.band(taker.trade.subId);
        if (status != 0) revert FT_IndexStale();
    }

    function _transfersPerFill() internal pure override returns (uint256) {
        return 2;
    }

    function _addTransfers(
        AssetTransfer[] memory transfers,
        uint256 at,
        Order memory taker,
        Order memory maker,
        FillDetails memory fill
    ) internal override {
        if (maker.trade.recipientId != maker.subaccountId) revert TM_InvalidRecipientId();
        TradeData memory trade = taker.trade;
        (,, uint256 low, uint256 high,) = futureAsset.band(trade.subId);
        if (fill.price < low.toInt256() || fill.price > high.toInt256()) revert FT_OutsideFillBand();

        // The taker comes first, so that its hook is the first.
        int256 amount = fill.amountFilled.toInt256();
        transfers[at] = AssetTransfer(
            taker.subaccountId,
            maker.subaccountId,
            trade.asset,
            trade.subId,
            trade.isBid ? -amount : amount,
            bytes32(0)
        );
        _report(taker, maker, fill);
        transfers[at + 1] = _chargeFee(maker.subaccountId, fill.fee);
    }

    function _report(Order memory taker, Order memory maker, FillDetails memory fill) private {
        TradeData memory trade = taker.trade;
        (uint256 buyer, uint256 seller) =
            trade.isBid ? (taker.subaccountId, maker.subaccountId) : (maker.subaccountId, taker.subaccountId);
        (uint256 mark, int256 vm) = manager.recordFill(trade.subId, buyer, seller, fill.amountFilled, fill.price);
        int256 takerVm = trade.isBid ? vm : -vm;
        emit FutureMatched(
            trade.asset,
            trade.subId,
            taker.subaccountId,
            maker.subaccountId,
            trade.isBid,
            fill.amountFilled,
            fill.price,
            mark,
            takerVm,
            -takerVm
        );
    }
}
