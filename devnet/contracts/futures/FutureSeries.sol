// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {FutureMath} from "./FutureMath.sol";
import {IndexFixing} from "./IndexFixing.sol";
import {IFutureAsset, IIndexFeed} from "./interfaces.sol";

/// The prices of all series: index, fill band, mark, fixing and settlement price, in cNGN per USDC at 1e18. A series is
/// identified by its expiry in unix seconds.
abstract contract FutureSeries is IFutureAsset, Ownable {
    using IndexFixing for IndexFixing.Fixing;
    using SafeCast for uint256;

    enum State {
        None,
        Trading,
        /// Trading is over; positions wait for the settlement price.
        Ended,
        Settled
    }

    struct Series {
        uint64 lastTradeTime;
        uint64 markAt;
        /// Counts marks and the settlement price, from 1.
        uint64 round;
        uint256 mark;
        /// 0 until the series is settled.
        uint256 settlementPrice;
    }

    /// The most series that are open at a time: what a shared loss has to look through.
    uint256 public constant MAX_OPEN_SERIES = 16;
    /// The shortest time between two marks of a series.
    uint256 public constant MARK_INTERVAL = 1 hours;
    /// How long after expiry an incomplete fixing may be replaced.
    uint256 public constant FALLBACK_DELAY = 24 hours;
    uint8 private constant BAND_OK = 0;
    uint8 private constant BAND_INDEX_STALE = 1;
    uint8 private constant BAND_UNKNOWN_SERIES = 2;

    /// The only account that moves marks.
    address public markKeeper;
    /// The only account that opens series; the owner names it, and is it only if it names itself.
    address public seriesCreator;
    /// The index of all series.
    IIndexFeed public indexFeed;
    uint256[] private openIds;
    mapping(uint256 subId => Series) private seriesOf;
    mapping(uint256 subId => IndexFixing.Fixing) private fixings;

    event SeriesCreated(uint256 indexed subId, uint64 lastTradeTime, uint256 mark);
    event SeriesRetired(uint256 indexed subId);
    event MarkUpdated(uint256 indexed subId, uint256 mark, uint256 index);
    event IndexRecorded(uint256 indexed subId, uint256 price, uint64 at);
    event SeriesSettled(uint256 indexed subId, uint256 price, bool isFallback);
    event MarkKeeperSet(address keeper);
    event SeriesCreatorSet(address creator);
    event IndexFeedSet(address feed);

    error BLF_DataTooOld();
    error FA_AlreadySettled();
    error FA_FallbackOutOfRange();
    error FA_FixingComplete();
    error FA_FixingIncomplete();
    error FA_HasPositions();
    error FA_InvalidExpiry();
    error FA_InvalidFeed();
    error FA_MarkMoveTooLarge();
    error FA_MarkOutsideBand();
    error FA_MarkTooSoon();
    error FA_OnlyKeeper();
    error FA_OnlySeriesCreator();
    error FA_SeriesExpired();
    error FA_TooEarly();
    error FA_TooManySeries();
    error FA_UnknownSeries();

    // --- settings

    /// Names the only account that may move marks. The owner only, as all settings.
    function setMarkKeeper(address keeper) external onlyOwner {
        markKeeper = keeper;
        emit MarkKeeperSet(keeper);
    }

    /// Names the only account that may open series. The owner only.
    function setSeriesCreator(address creator) external onlyOwner {
        seriesCreator = creator;
        emit SeriesCreatorSet(creator);
    }

    /// Replaces the index of all series, in the middle of their lives too. Refuses what does not answer as a feed does, so
    /// that reading the band cannot revert.
    function setIndexFeed(IIndexFeed feed) external onlyOwner {
        if (address(feed).code.length == 0) revert FA_InvalidFeed();
        feed.spotDetail();
        feed.heartbeat();
        indexFeed = feed;
        emit IndexFeedSet(address(feed));
    }

    /// Opens a series that trades until one hour before `expiry`. Its first mark is the index, which must be fresh.
    /// At most MAX_OPEN_SERIES are open at a time. The series creator only.
    function createSeries(uint64 expiry) external {
        if (msg.sender != seriesCreator) revert FA_OnlySeriesCreator();
        if (expiry <= block.timestamp + IndexFixing.WINDOW) revert FA_InvalidExpiry();
        if (seriesOf[expiry].mark != 0) revert FA_InvalidExpiry();
        if (openIds.length == MAX_OPEN_SERIES) revert FA_TooManySeries();
        uint256 index = getIndexPrice();
        uint64 lastTradeTime = expiry - uint64(IndexFixing.WINDOW);
        seriesOf[expiry] = Series(lastTradeTime, block.timestamp.toUint64(), 1, index, 0);
        openIds.push(expiry);
        emit SeriesCreated(expiry, lastTradeTime, index);
    }

    /// Makes room for another series: takes a settled one without positions off the list of open ones. Any caller.
    function retireSeries(uint256 subId) external {
        if (_known(subId).settlementPrice == 0) revert FA_TooEarly();
        if (_totalSize(subId) != 0) revert FA_HasPositions();
        for (uint256 i = 0; i < openIds.length; i++) {
            if (openIds[i] != subId) continue;
            openIds[i] = openIds[openIds.length - 1];
            openIds.pop();
            emit SeriesRetired(subId);
            return;
        }
    }

    // --- mark

    /// Moves the mark: the keeper only, before expiry, an hour after the last move, at most 5 % away from the last mark
    /// and inside the band of this moment, with a fresh index.
    function updateMark(uint256 subId, uint256 mark) external {
        if (msg.sender != markKeeper) revert FA_OnlyKeeper();
        Series storage s = _known(subId);
        if (block.timestamp >= subId) revert FA_SeriesExpired();
        if (block.timestamp < s.markAt + MARK_INTERVAL) revert FA_MarkTooSoon();
        uint256 move = mark > s.mark ? mark - s.mark : s.mark - mark;
        if (move * 20 > s.mark) revert FA_MarkMoveTooLarge();
        (uint256 index,, uint256 low, uint256 high, uint8 status) = band(subId);
        if (status != BAND_OK) revert BLF_DataTooOld();
        if (mark < low || mark > high) revert FA_MarkOutsideBand();
        s.mark = mark;
        s.markAt = block.timestamp.toUint64();
        s.round += 1;
        emit MarkUpdated(subId, mark, index);
    }

    // --- settlement

    /// Adds the feed's newest price to the fixing of a series, with the time that the feed states. Any caller. Refused
    /// when the price is not newer than the last sample, or is of a time after expiry.
    function recordIndex(uint256 subId) external {
        if (_known(subId).settlementPrice != 0) revert FA_AlreadySettled();
        (uint256 price,, uint64 at) = indexFeed.spotDetail();
        if (price == 0) revert FA_InvalidFeed();
        fixings[subId].record(subId, price, at);
        emit IndexRecorded(subId, price, at);
    }

    /// Fixes the settlement price from expiry on: the average of the fixing, rounded down. Any caller. Refused while the
    /// fixing is incomplete.
    function settle(uint256 subId) external {
        _requireExpired(subId, 0);
        (IndexFixing.Fixing memory f, bool isComplete) = fixings[subId].atExpiry(subId);
        if (!isComplete) revert FA_FixingIncomplete();
        _settleAt(subId, f.priceSeconds / f.covered, false);
    }

    /// Fixes the settlement price of a series whose fixing is incomplete: the owner only, from 24 hours after expiry,
    /// within 2 % of the average of the samples, or of the last mark where there is no sample.
    function setFallbackPrice(uint256 subId, uint256 price) external onlyOwner {
        _requireExpired(subId, FALLBACK_DELAY);
        (IndexFixing.Fixing memory f, bool isComplete) = fixings[subId].atExpiry(subId);
        if (isComplete) revert FA_FixingComplete();
        uint256 average = f.covered == 0 ? seriesOf[subId].mark : f.priceSeconds / f.covered;
        uint256 distance = price > average ? price - average : average - price;
        if (distance * 50 > average) revert FA_FallbackOutOfRange();
        _settleAt(subId, price, true);
    }

    function _requireExpired(uint256 subId, uint256 delay) private view {
        if (_known(subId).settlementPrice != 0) revert FA_AlreadySettled();
        if (block.timestamp < subId + delay) revert FA_TooEarly();
    }

    function _settleAt(uint256 subId, uint256 price, bool isFallback) private {
        seriesOf[subId].settlementPrice = price;
        seriesOf[subId].round += 1;
        emit SeriesSettled(subId, price, isFallback);
    }

    // --- views

    /// The index at 1e18. Reverts with BLF_DataTooOld while it is stale.
    function getIndexPrice() public view returns (uint256 price) {
        bool isFresh;
        (price,, isFresh) = indexDetail();
        if (!isFresh) revert BLF_DataTooOld();
    }

    /// The last known index and its confidence, both at 1e18, and whether it counts. A price of 0 counts as stale, and so
    /// does a feed that is not set or reverts. Never reverts.
    function indexDetail() public view returns (uint256 price, uint256 confidence, bool isFresh) {
        if (address(indexFeed) == address(0)) return (0, 0, false);
        try indexFeed.spotDetail() returns (uint96 spot, uint64 certainty, uint64 at) {
            try indexFeed.heartbeat() returns (uint64 heartbeat) {
                return (spot, certainty, spot > 0 && uint256(at) + heartbeat >= block.timestamp);
            } catch {
                return (spot, certainty, false);
            }
        } catch {
            return (0, 0, false);
        }
    }

    /// State, last trade time, mark and settlement price of a series; zeros for an unknown one. Never reverts.
    function series(uint256 subId)
        external
        view
        returns (uint64 lastTradeTime, uint256 mark, uint64 markAt, uint256 settlementPrice, State state)
    {
        Series memory s = seriesOf[subId];
        return (s.lastTradeTime, s.mark, s.markAt, s.settlementPrice, _stateOf(s));
    }

    /// Index, width and allowed fill prices of a series at this moment, bounds included. Never reverts: status 0 means
    /// that they hold, 1 that the index is stale, 2 that there is no such series.
    function band(uint256 subId)
        public
        view
        returns (uint256 index, uint256 width, uint256 low, uint256 high, uint8 status)
    {
        if (seriesOf[subId].mark == 0) return (0, 0, 0, 0, BAND_UNKNOWN_SERIES);
        bool isFresh;
        (index,, isFresh) = indexDetail();
        width = FutureMath.bandWidth(subId > block.timestamp ? subId - block.timestamp : 0);
        (low, high) = FutureMath.bandAround(index, width);
        status = isFresh ? BAND_OK : BAND_INDEX_STALE;
    }

    /// The fixing of a series as it is if no further sample comes: time of the newest sample, sum of price times
    /// seconds, seconds covered, longest gap inside the last hour, and whether settle accepts it. All prices of an
    /// hour are in it only after expiry.
    function fixing(uint256 subId)
        external
        view
        returns (uint64 lastAt, uint256 priceSeconds, uint64 covered, uint64 largestGap, bool complete)
    {
        if (subId < IndexFixing.WINDOW) return (0, 0, 0, 0, false);
        IndexFixing.Fixing memory f;
        (f, complete) = fixings[subId].atExpiry(subId);
        return (f.lastAt, f.priceSeconds, f.covered, f.largestGap, complete);
    }

    /// The price at which positions are valued, with the number of its changes.
    function valuation(uint256 subId) external view returns (uint256 price, uint64 round, bool isSettled) {
        Series storage s = _known(subId);
        isSettled = s.settlementPrice != 0;
        return (isSettled ? s.settlementPrice : s.mark, s.round, isSettled);
    }

    /// Whether fills of the series are possible at this moment.
    function isTrading(uint256 subId) external view returns (bool) {
        return _stateOf(_known(subId)) == State.Trading;
    }

    /// All series that were created and not retired.
    function openSeries() external view returns (uint256[] memory subIds) {
        return openIds;
    }

    function _stateOf(Series memory s) private view returns (State) {
        if (s.mark == 0) return State.None;
        if (s.settlementPrice != 0) return State.Settled;
        return block.timestamp < s.lastTradeTime ? State.Trading : State.Ended;
    }

    function _known(uint256 subId) internal view returns (Series storage s) {
        s = seriesOf[subId];
        if (s.mark == 0) revert FA_UnknownSeries();
    }

    /// Sum of the sizes of all positions of a series, long and short.
    function _totalSize(uint256 subId) internal view virtual returns (uint256);
}
