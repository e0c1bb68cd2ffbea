// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {ICappedAsset, ISubAccounts} from "./interfaces.sol";
import {TokenEscrow} from "./TokenEscrow.sol";

/// A token inside the accounts. Never negative, capped per manager; receiving it needs consent as well as paying it.
contract WrappedERC20Asset is TokenEscrow, ICappedAsset {
    using SafeCast for uint256;

    struct Snapshot {
        uint64 tradeId;
        uint192 total;
    }

    uint8 public immutable assetDecimals;
    mapping(address manager => uint256) public totalPosition;
    mapping(address manager => uint256) public totalPositionCap;
    mapping(address manager => Snapshot) private beforeTrade;

    event TotalPositionCapSet(address manager, uint256 oiCap);

    error WERC_CannotBeNegative();
    error WERC_InvalidSubId();
    error WERC_OnlyAccountOwner();

    constructor(ISubAccounts subAccounts_, IERC20Metadata token_) TokenEscrow(subAccounts_, token_) {
        assetDecimals = token_.decimals();
    }

    function setTotalPositionCap(address manager, uint256 cap) external onlyOwner {
        totalPositionCap[manager] = cap;
        emit TotalPositionCapSet(manager, cap);
    }

    function totalPositionBefore(address manager, uint256 tradeId) external view returns (uint256) {
        Snapshot memory snapshot = beforeTrade[manager];
        return snapshot.tradeId == tradeId ? snapshot.total : totalPosition[manager];
    }

    function handleAdjustment(uint256 accountId, uint256 subId, int256 amount, int256 preBalance, uint256 tradeId)
        external
        onlyAccounts
        returns (int256 postBalance, bool needsAllowance)
    {
        if (subId != 0) revert WERC_InvalidSubId();
        address manager = _knownManager(accountId);
        postBalance = preBalance + amount;
        if (postBalance < 0) revert WERC_CannotBeNegative();
        if (amount != 0) _track(manager, amount, tradeId);
        return (postBalance, true);
    }

    function _track(address manager, int256 amount, uint256 tradeId) private {
        uint256 total = totalPosition[manager];
        if (beforeTrade[manager].tradeId != tradeId) {
            beforeTrade[manager] = Snapshot(tradeId.toUint64(), total.toUint192());
        }
        totalPosition[manager] = amount < 0 ? total - uint256(-amount) : total + uint256(amount);
    }

    function _refuseStranger() internal pure override {
        revert WERC_OnlyAccountOwner();
    }
}
