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

    mapping(address manager => uint256) public totalPosition;
    mapping(address manager => uint256) public totalPositionCap;
    mapping(address manager => Snapshot) private beforeTrade;

    event TotalPositionCapSet(address manager, uint256 oiCap);

    function setTotalPositionCap(address manager, uint256 cap) external onlyOwner {
        totalPositionCap[manager] = cap;
        emit TotalPositionCapSet(manager, cap);
    }

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
