// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {
    AssetTransfer,
    IDataReceiver,
    IMarkedAsset,
    IMatching,
    ISubAccounts,
    ManagerData,
    VerifiedAction
} from "./interfaces.sol";
import {BaseModule} from "./BaseModule.sol";

/// Settles one taker (the first action) against one or more makers. The executor chooses the price inside both
/// limits; the module checks limits, fee bounds and remaining amounts that the parties signed.
contract TradeModule is BaseModule, Ownable {
    using SafeCast for int256;
    using SafeCast for uint256;

    struct TradeData {
        address asset;
        uint256 subId;
        int256 limitPrice;
        int256 desiredAmount;
        uint256 worstFee;
        uint256 recipientId;
        bool isBid;
    }

    struct FillDetails {
        uint256 filledAccount;
        uint256 amountFilled;
        int256 price;
        uint256 fee;
    }

    struct OrderData {
        uint256 takerAccount;
        uint256 takerFee;
        FillDetails[] fillDetails;
        bytes managerData;
    }

    /// An action with its trade data decoded.
    struct Order {
        address owner;
        uint256 nonce;
        uint256 subaccountId;
        TradeData trade;
    }

    /// Pays trades and fees.
    address public immutable quoteAsset;
    /// The account that is credited with fees; it must consent to credits of the quote asset.
    uint256 public feeRecipient;
    /// Assets of which a trade pays only the difference to the mark.
    mapping(address asset => bool) public isPerpAsset;
    /// What of an order is filled, in units of its desired amount.
    mapping(address owner => mapping(uint256 nonce => uint256 amount)) public filled;
    /// keccak256 of the signed data of the order that used the nonce first.
    mapping(address owner => mapping(uint256 nonce => bytes32 dataHash)) public seenNonces;

    event OrderMatched(
        address base, uint256 taker, uint256 maker, bool takerIsBid, int256 amtQuote, uint256 amtBase
    );
    event FeeCharged(uint256 acc, uint256 recipient, uint256 takerFee);

    error TM_AssetMismatch();
    error TM_AssetSubIdMismatch();
    error TM_FeeTooHigh();
    error TM_FillLimitCrossed();
    error TM_InvalidActionsLength();
    error TM_InvalidNonce();
    error TM_InvalidRecipientId();
    error TM_IsBidMismatch();
    error TM_PriceTooHigh();
    error TM_PriceTooLow();
    error TM_SignedAccountMismatch();

    constructor(IMatching matching_, ISubAccounts subAccounts_, address quoteAsset_)
        BaseModule(matching_, subAccounts_)
        Ownable(msg.sender)
    {
        quoteAsset = quoteAsset_;
    }

    /// Names the account that receives fees; the owner only. Without its consent no match settles.
    function setFeeRecipient(uint256 _feeRecipient) external onlyOwner {
        feeRecipient = _feeRecipient;
    }

    /// Says whether trades of the asset pay only the difference to its mark; the owner only.
    function setPerpAsset(address _perpAsset, bool isPerp) external onlyOwner {
        isPerpAsset[_perpAsset] = isPerp;
    }

    /// Settles the taker, the first action, against the makers behind it. `actionData` is abi.encode(OrderData): prices and
    /// fees at 1e18, amounts as signed. One fill that a check, an asset or a manager refuses reverts all. Called by
    /// Matching only.
    function executeAction(VerifiedAction[] calldata actions, bytes calldata actionData)
        external
        onlyMatching
        returns (uint256[] memory newIds, address[] memory newOwners)
    {
        if (actions.length < 2) revert TM_InvalidActionsLength();
        OrderData memory order = abi.decode(actionData, (OrderData));
        Order memory taker = _decode(actions[0]);
        if (order.takerAccount != taker.subaccountId) revert TM_SignedAccountMismatch();
        _deliver(order.managerData);
        _checkTaker(taker);

        AssetTransfer[] memory transfers = new AssetTransfer[]((actions.length - 1) * _transfersPerFill() + 1);
        _fillMakers(actions, taker, order, transfers);
        transfers[transfers.length - 1] = _chargeFee(taker.subaccountId, order.takerFee);

        subAccounts.submitTransfers(transfers, order.managerData);
        _returnAccounts(actions);
        return (newIds, newOwners);
    }

    function _fillMakers(
        VerifiedAction[] calldata actions,
        Order memory taker,
        OrderData memory order,
        AssetTransfer[] memory transfers
    ) private {
        // The taker's limits apply to its total and to its worst fill.
        FillDetails memory total = FillDetails(taker.subaccountId, 0, 0, order.takerFee);
        for (uint256 i = 1; i < actions.length; i++) {
            Order memory maker = _decode(actions[i]);
            FillDetails memory fill = order.fillDetails[i - 1];
            _checkPair(taker, maker, fill);
            _applyFill(maker, fill);
            _addTransfers(transfers, (i - 1) * _transfersPerFill(), taker, maker, fill);

            total.amountFilled += fill.amountFilled;
            bool worse = taker.trade.isBid ? fill.price > total.price : fill.price < total.price;
            if (i == 1 || worse) total.price = fill.price;
        }
        _applyFill(taker, total);
    }

    /// What a kind of trade asks of the taker's order before any fill.
    function _checkTaker(Order memory taker) internal view virtual {}

    function _transfersPerFill() internal pure virtual returns (uint256) {
        return 3;
    }

    function _decode(VerifiedAction calldata action) private returns (Order memory order) {
        bytes32 dataHash = keccak256(action.data);
        bytes32 seen = seenNonces[action.owner][action.nonce];
        if (seen == 0) seenNonces[action.owner][action.nonce] = dataHash;
        else if (seen != dataHash) revert TM_InvalidNonce();
        TradeData memory trade = abi.decode(action.data, (TradeData));
        return Order(action.owner, action.nonce, action.subaccountId, trade);
    }

    function _checkPair(Order memory taker, Order memory maker, FillDetails memory fill) private view {
        uint256 recipientId = maker.trade.recipientId;
        if (recipientId == 0) revert TM_InvalidRecipientId();
        if (recipientId != maker.subaccountId && matching.subAccountToOwner(recipientId) != maker.owner) {
            revert TM_InvalidRecipientId();
        }
        if (fill.filledAccount != maker.subaccountId) revert TM_SignedAccountMismatch();
        if (maker.trade.isBid == taker.trade.isBid) revert TM_IsBidMismatch();
        if (maker.trade.asset != taker.trade.asset) revert TM_AssetMismatch();
        if (maker.trade.subId != taker.trade.subId) revert TM_AssetSubIdMismatch();
    }

    function _applyFill(Order memory order, FillDetails memory fill) private {
        if ((fill.fee * 1e18) / fill.amountFilled > order.trade.worstFee) revert TM_FeeTooHigh();
        if (order.trade.isBid) {
            if (fill.price > order.trade.limitPrice) revert TM_PriceTooHigh();
        } else {
            if (fill.price < order.trade.limitPrice) revert TM_PriceTooLow();
        }
        uint256 filledAfter = filled[order.owner][order.nonce] + fill.amountFilled;
        if (filledAfter > order.trade.desiredAmount.toUint256()) revert TM_FillLimitCrossed();
        filled[order.owner][order.nonce] = filledAfter;
    }

    /// Writes what one fill moves from `transfers[at]` on, _transfersPerFill of them, and reports the fill.
    function _addTransfers(
        AssetTransfer[] memory transfers,
        uint256 at,
        Order memory taker,
        Order memory maker,
        FillDetails memory fill
    ) internal virtual {
        TradeData memory trade = taker.trade;
        int256 quote = _quoteAmount(trade.asset, fill);
        int256 base = fill.amountFilled.toInt256();
        // The taker comes first in the first transfer, so that its hook is the first.
        if (trade.isBid) {
            transfers[at] = _quote(taker.subaccountId, maker.trade.recipientId, quote);
            transfers[at + 1] =
                AssetTransfer(maker.subaccountId, trade.recipientId, trade.asset, trade.subId, base, bytes32(0));
        } else {
            transfers[at] = _quote(trade.recipientId, maker.subaccountId, -quote);
            transfers[at + 1] = AssetTransfer(
                maker.trade.recipientId, taker.subaccountId, trade.asset, trade.subId, -base, bytes32(0)
            );
        }
        emit OrderMatched(
            trade.asset, taker.subaccountId, maker.subaccountId, trade.isBid, quote, fill.amountFilled
        );
        transfers[at + 2] = _chargeFee(maker.subaccountId, fill.fee);
    }

    /// Amount that the buyer pays, truncated toward zero; for a perp only the difference to the mark.
    function _quoteAmount(address asset, FillDetails memory fill) private view returns (int256) {
        int256 price = fill.price;
        if (isPerpAsset[asset]) {
            (uint256 mark,) = IMarkedAsset(asset).getPerpPrice();
            price -= mark.toInt256();
        }
        return (price * fill.amountFilled.toInt256()) / 1e18;
    }

    function _chargeFee(uint256 payer, uint256 fee) internal returns (AssetTransfer memory) {
        emit FeeCharged(payer, feeRecipient, fee);
        return _quote(payer, feeRecipient, fee.toInt256());
    }

    function _quote(uint256 from, uint256 to, int256 amount) private view returns (AssetTransfer memory) {
        return AssetTransfer(from, to, quoteAsset, 0, amount, bytes32(0));
    }

    /// Prices must be fresh before the marks are read.
    function _deliver(bytes memory managerData) private {
        if (managerData.length == 0) return;
        ManagerData[] memory items = abi.decode(managerData, (ManagerData[]));
        for (uint256 i = 0; i < items.length; i++) {
            IDataReceiver(items[i].receiver).acceptData(items[i].data);
        }
    }
}
