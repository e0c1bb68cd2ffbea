// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {SignedMath} from "@openzeppelin/contracts/utils/math/SignedMath.sol";
import {ICappedAsset} from "./interfaces.sol";

/// Sum of the sizes of all positions per manager, long and short alike, and the cap that managers hold it to.
abstract contract PositionTracking is ICappedAsset, Ownable {
    using SafeCast for uint256;

    struct Snapshot {
        uint64 tradeId;
        uint192 total;
    }

    /// Sum of the sizes of all positions of a manager's accounts, at 1e18.
    mapping(address manager => uint256) public totalPosition;
    /// What the manager holds that sum to; 0 at first.
    mapping(address manager => uint256) public totalPositionCap;
    mapping(address manager => Snapshot) private beforeTrade;

    event TotalPositionCapSet(address manager, uint256 oiCap);

    /// Sets the cap of a manager, at 1e18; the owner only. A total above it may shrink, and not grow.
    function setTotalPositionCap(address manager, uint256 cap) external onlyOwner {
        totalPositionCap[manager] = cap;
        emit TotalPositionCapSet(manager, cap);
    }

    /// The total before the trade changed it first; the current total if the trade has not touched it.
    function totalPositionBefore(address manager, uint256 tradeId) external view returns (uint256) {
        Snapshot memory snapshot = beforeTrade[manager];
        return snapshot.tradeId == tradeId ? snapshot.total : totalPosition[manager];
    }

    function _track(address manager, int256 preBalance, int256 postBalance, uint256 tradeId) internal {
        uint256 total = totalPosition[manager];
        if (beforeTrade[manager].tradeId != tradeId) {
            beforeTrade[manager] = Snapshot(tradeId.toUint64(), total.toUint192());
        }
        totalPosition[manager] = total + SignedMath.abs(postBalance) - SignedMath.abs(preBalance);
    }
}
