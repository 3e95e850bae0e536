import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import Square
from scipy import stats

from workbench.densities import DENSITIES, FIG1, FIG2, HEAVY_TAIL, SQUARE, GaussianMixture
from workbench.levelsets import Grid, TrueSets, contour_lines, filled_region, set_distance

DISC = GaussianMixture([1.0], [[0.0, 0.0]], [np.eye(2)])
GRID = Grid.covering(DISC)


def radius(alpha):
    """Radius of the standard Gaussian's minimum-volume set: P(|Z| > r) = exp(-r^2 / 2)."""
    return np.sqrt(-2 * np.log(alpha))


def area(ring):
    """Signed area within a closed ring, positive if it runs counter-clockwise."""
    x, y = ring.T
    return np.sum(x[:-1] * y[1:] - x[1:] * y[:-1]) / 2


# Grids


def test_grid():
    grid = Grid([0, 1, 2], [5.0, 5.5])
    assert grid.shape == (2, 3)
    assert grid.cell_area == 0.5
    np.testing.assert_array_equal(grid.points, [[0, 5], [1, 5], [2, 5], [0, 5.5], [1, 5.5], [2, 5.5]])
    np.testing.assert_array_equal(grid.evaluate(lambda P: P[:, 0] + 10 * P[:, 1])[1], [55, 56, 57])


def test_cells_tile_the_box_of_a_density():
    grid = Grid.covering(FIG2, 50)
    assert grid.cell_area * 50**2 == pytest.approx(np.prod(np.diff(FIG2.bounds(), axis=0)))
    assert (grid.evaluate(FIG2.pdf) * grid.cell_area).sum() == pytest.approx(1, abs=1e-4)


def test_grid_covers_a_sample_with_a_margin():
    X = np.array([[0.0, -10.0], [2.0, 10.0], [1.0, 1.0]])
    grid = Grid.covering(X, 12)
    np.testing.assert_allclose([grid.x[0] - 0.1, grid.x[-1] + 0.1], [-0.2, 2.2])
    np.testing.assert_allclose([grid.y[0] - 1, grid.y[-1] + 1], [-12, 12])


# Level curves


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.5])
def test_level_curve_of_a_gaussian_is_a_circle(alpha):
    (line,) = contour_lines(GRID, GRID.evaluate(DISC.logpdf), np.log(DISC.level(alpha)))
    np.testing.assert_allclose(np.hypot(*line.T), radius(alpha), atol=1e-3)
    np.testing.assert_array_equal(line[0], line[-1])
    assert abs(area(line)) == pytest.approx(DISC.volume(alpha), rel=1e-3)


def test_rows_are_y():
    grid = Grid(np.linspace(0, 1, 11), np.linspace(0, 5, 21))
    (line,) = contour_lines(grid, grid.evaluate(lambda P: P[:, 1]), 2.1)
    np.testing.assert_allclose(line[:, 1], 2.1)
    assert sorted(line[[0, -1], 0]) == [0, 1]


def test_one_curve_a_component():
    values = Grid.covering(FIG1).evaluate(FIG1.pdf)
    counts = [len(contour_lines(Grid.covering(FIG1), values, FIG1.level(alpha))) for alpha in (0.1, 0.95)]
    assert counts == [1, 2]


def test_level_never_reached_and_constant_field():
    values = GRID.evaluate(DISC.pdf)
    for level in (values.max() + 1, values.min() - 1, np.inf, -np.inf):
        assert contour_lines(GRID, values, level) == []
    assert contour_lines(GRID, np.ones(GRID.shape), 1.0) == []
    assert contour_lines(GRID, np.ones(GRID.shape), 0.5) == []


def test_filled_region_of_an_annulus():
    values = GRID.evaluate(lambda P: -np.abs(np.hypot(*P.T) - 2))
    rings = filled_region(GRID, values, -0.5)
    np.testing.assert_allclose([area(ring) for ring in rings], [np.pi * 2.5**2, -np.pi * 1.5**2], rtol=2e-3)
    for ring in rings:
        np.testing.assert_array_equal(ring[0], ring[-1])


def test_filled_region_of_everything_and_nothing():
    values = GRID.evaluate(DISC.pdf)
    within = (GRID.x[-1] - GRID.x[0]) * (GRID.y[-1] - GRID.y[0])
    for level in (-1.0, -np.inf):
        (ring,) = filled_region(GRID, values, level)
        assert area(ring) == pytest.approx(within)
    assert filled_region(GRID, values, 1.0) == filled_region(GRID, values, np.inf) == []


@pytest.mark.parametrize("name", DENSITIES)
def test_boundary_of_the_true_set_is_where_p_crosses_alpha(name):
    """So it can be drawn for every density: the p-value is finite where log f is not."""
    density, alpha = DENSITIES[name], 0.3
    grid = Grid.covering(density)
    rings = filled_region(grid, grid.evaluate(density.p_value), alpha)
    level_set = 16.0 if density is SQUARE else density.volume(alpha)
    assert sum(area(ring) for ring in rings) == pytest.approx(level_set, rel=0.02)


# Distance between sets


@pytest.mark.parametrize("density", [DISC, *(each for each in DENSITIES.values() if each is not SQUARE)])
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.3])
def test_the_true_set_against_itself(density, alpha):
    c = density.level(alpha)
    coarse = 2 if density is HEAVY_TAIL else 1  # its cells are 0.2 units wide
    for accepted, atol in (
        (lambda P: density.logpdf(P) - np.log(c), 5e-4 * coarse),
        (lambda P: density.logpdf(P) >= np.log(c), 2e-3 * coarse),
    ):
        distance = set_distance(density, alpha, accepted)
        assert distance.symmetric_difference_volume == 0
        assert distance.symmetric_difference_mass == 0
        assert distance.volume_ratio == pytest.approx(1, abs=5 * atol)
        assert distance.false_alarm_rate == pytest.approx(alpha, abs=atol)
        assert not distance.clipped


@pytest.mark.parametrize("r", [1.0, 2.2, 3.5])
def test_disc_of_another_radius(r):
    alpha, true = 0.05, radius(0.05)
    for accepted, tolerance in (
        (lambda P: r - np.hypot(*P.T), 4e-4),
        (lambda P: np.hypot(*P.T) <= r, 3e-3),
    ):
        distance = set_distance(DISC, alpha, accepted)
        outside = np.exp(-(r**2) / 2)
        assert distance.symmetric_difference_mass == pytest.approx(abs(outside - alpha), abs=tolerance)
        difference = np.pi * abs(r**2 - true**2)
        assert distance.symmetric_difference_volume == pytest.approx(difference, abs=20 * tolerance)
        assert distance.volume_ratio == pytest.approx(r**2 / true**2, abs=5 * tolerance)
        assert distance.false_alarm_rate == pytest.approx(outside, abs=tolerance)


def test_shifted_disc():
    """The lens of two discs of radius r at distance s; the mass outside is a non-central chi^2 tail."""
    r, s = radius(0.1), 0.7
    distance = set_distance(DISC, 0.1, lambda P: r - np.hypot(P[:, 0] - s, P[:, 1]))
    lens = 2 * r**2 * np.arccos(s / (2 * r)) - s / 2 * np.sqrt(4 * r**2 - s**2)
    assert distance.symmetric_difference_volume == pytest.approx(2 * (np.pi * r**2 - lens), abs=0.01)
    assert distance.false_alarm_rate == pytest.approx(stats.ncx2.sf(r**2, 2, s**2), abs=3e-4)
    assert distance.volume_ratio == pytest.approx(1, abs=1e-3)
    # Masses balance: what E misses of T less what it takes beyond T is its excess of false alarms.
    missed = set_distance(
        DISC, 0.1, lambda P: np.minimum(r - np.hypot(P[:, 0] - s, P[:, 1]), r - np.hypot(*P.T))
    ).symmetric_difference_mass
    beyond = distance.symmetric_difference_mass - missed
    assert missed - beyond == pytest.approx(distance.false_alarm_rate - 0.1, abs=5e-4)


@settings(max_examples=4, deadline=None)
@given(angle=st.floats(0, 2 * np.pi), shift=st.tuples(st.floats(-50, 50), st.floats(-50, 50)))
def test_rigid_motion(angle, shift):
    rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    moved = GaussianMixture([1.0], [shift], [rotation @ np.diag([4.0, 1.0]) @ rotation.T])
    still = GaussianMixture([1.0], [[0.0, 0.0]], [np.diag([4.0, 1.0])])

    def ellipse(P):
        return 2.0 - np.hypot((P[:, 0] - 0.5) / 1.8, P[:, 1])

    there = set_distance(moved, 0.1, lambda P: ellipse((P - shift) @ rotation))
    here = set_distance(still, 0.1, ellipse)
    for name in ("symmetric_difference_mass", "volume_ratio", "false_alarm_rate"):
        assert getattr(there, name) == pytest.approx(getattr(here, name), abs=3e-3)


@pytest.mark.parametrize("value", [True, 1.0])
def test_accept_everything(value):
    distance = set_distance(DISC, 0.05, np.full(GRID.shape, value), GRID)
    extent = np.prod(np.diff(DISC.bounds(), axis=0))
    assert distance.false_alarm_rate == pytest.approx(0, abs=1e-6)
    assert distance.symmetric_difference_mass == pytest.approx(0.05, abs=2e-3)
    assert distance.volume_ratio == pytest.approx(extent / DISC.volume(0.05))
    assert distance.clipped


@pytest.mark.parametrize("value", [False, 0.0, -1.0])
def test_reject_everything(value):
    distance = set_distance(DISC, 0.05, np.full(GRID.shape, value), GRID)
    assert distance.false_alarm_rate == 1
    assert distance.volume_ratio == 0
    assert distance.symmetric_difference_mass == pytest.approx(0.95, abs=2e-3)
    assert distance.symmetric_difference_volume == pytest.approx(DISC.volume(0.05), rel=5e-3)
    assert not distance.clipped


def test_a_grid_that_cuts_the_true_set_is_clipped():
    narrow = Grid.covering([[-2.3, -2.3], [2.3, 2.3]])
    accepted = narrow.evaluate(lambda P: 1 - np.hypot(*P.T))
    assert set_distance(DISC, 1e-3, accepted, narrow).clipped
    assert not set_distance(DISC, 0.1, accepted, narrow).clipped


@pytest.mark.filterwarnings("error")
def test_density_that_ends_abruptly():
    """Every part of the square of area 3.6 is a minimum-volume set; those that contain E are nearest."""
    grid = Grid.covering([[-1.5, -1.5], [1.5, 1.5]], 360)
    distance = set_distance(Square(), 0.1, lambda P: 0.5 - np.abs(P).max(axis=1), grid)
    assert distance.false_alarm_rate == pytest.approx(0.75, abs=1e-6)
    assert distance.symmetric_difference_volume == pytest.approx(2.6, abs=1e-6)


@pytest.mark.parametrize(
    ("right", "top", "volume", "mass"),
    [
        (1.6, 2.0, 0.0, 0.0),  # nine tenths of the square
        (1.6, 2.5, 3.6, 0.0),  # strips above and below it as well
        (2.0, 2.0, 1.6, 0.1),  # all of the square: a tenth too much
        (0.0, 2.0, 6.4, 0.4),  # half of the square: two fifths too little
        (2.5, 2.0, 1.6 + 2.0, 0.1),
    ],
)
def test_a_set_on_a_plateau_against_the_nearest_minimum_volume_set(right, top, volume, mass):
    """E is the rectangle -2 < x < right, |y| < top; the square is 4 wide, and its grid 5."""
    grid = Grid.covering(SQUARE, 250)
    x, y = grid.points.T
    inside = ((x > -2) & (x < right) & (np.abs(y) < top)).reshape(grid.shape)
    for accepted in (inside, np.where(inside, 1.0, -1.0)):
        distance = set_distance(SQUARE, 0.1, accepted, grid)
        assert distance.symmetric_difference_volume == pytest.approx(volume, abs=1e-6)
        assert distance.symmetric_difference_mass == pytest.approx(mass, abs=1e-6)
        assert distance.volume_ratio == pytest.approx((right + 2) * 2 * top / 14.4)
        assert distance.clipped == (2.5 in (right, top))


def test_a_plateau_below_a_peak_is_taken_in_part():
    """A tower of mass 1/2 on a plain: T is the tower and the part of the plain still wanting."""

    class Tower(Square):
        def logpdf(self, X):
            tall = np.log(np.where(np.abs(X).max(axis=1) <= 0.5, 0.5, 0.5 / 3))
            return np.where((np.abs(X) <= 1).all(axis=1), tall, -np.inf)

    grid = Grid.covering([[-1.5, -1.5], [1.5, 1.5]], 360)
    density = Tower()
    assert density.volume(0.25) == pytest.approx(1 + 1.5, rel=5e-3)
    tower, plain = (lambda P: np.abs(P).max(axis=1) <= 0.5), (lambda P: np.abs(P).max(axis=1) <= 1)
    for accepted, mass in (
        (tower, 0.25),  # the part of the plain is missing
        (plain, 0.25),  # too much of the plain
        (lambda P: plain(P) & ~tower(P), 0.5 + 0.25),  # no tower, and too much of the plain
        (lambda P: tower(P) | (plain(P) & (P[:, 0] > 0)), 0.0),  # half of the plain, whichever half
    ):
        distance = set_distance(density, 0.25, accepted, grid)
        assert distance.symmetric_difference_mass == pytest.approx(mass, abs=5e-3)


def test_a_cell_at_the_level_by_chance_is_no_plateau():
    point = GRID.points[[12_345]]
    alpha = DISC.p_value(point)[0]
    level = DISC.logpdf(point)[0]
    ties = np.sum(np.abs(DISC.logpdf(GRID.points) - level) < 1e-8)
    assert 0 < ties <= 16
    distance = set_distance(DISC, alpha, lambda P: DISC.logpdf(P) >= level - 1e-12)
    assert distance.symmetric_difference_mass <= (1 + 1e-6) * ties * np.exp(level) * GRID.cell_area
    assert distance.false_alarm_rate == pytest.approx(alpha, abs=2e-3)


def test_heavy_tail_beyond_the_grid_counts_as_outside():
    distance = set_distance(HEAVY_TAIL, 0.05, lambda P: np.ones(len(P)))
    assert 0 < distance.false_alarm_rate < HEAVY_TAIL.negligible + 1e-3
    assert distance.clipped


@pytest.mark.parametrize("direction", [(1, 0), (-1, 0), (0, 1), (0, -1)])
def test_a_region_that_leaves_by_any_side_is_clipped(direction):
    reach = GRID.x[-1] - GRID.x[0]
    bump = 0.9 - np.hypot(*(GRID.points - np.multiply(direction, reach / 2)).T).reshape(GRID.shape)
    assert set_distance(DISC, 0.1, bump, GRID).clipped
    assert set_distance(DISC, 0.1, bump > 0, GRID).clipped


def test_cells_on_the_boundary_count_in_part():
    """Real margins must be clearly more exact than counting whole cells, over many radii."""
    real, boolean = [], []
    for r in np.linspace(1, 3, 20):
        outside = np.exp(-(r**2) / 2)
        distances = np.hypot(*GRID.points.T).reshape(GRID.shape)
        real.append(set_distance(DISC, 0.1, r - distances, GRID).false_alarm_rate - outside)
        boolean.append(set_distance(DISC, 0.1, distances < r, GRID).false_alarm_rate - outside)
    assert np.abs(real).max() < 4e-4
    assert np.std(boolean) > 3 * np.std(real)


def test_array_and_function_agree():
    values = GRID.evaluate(lambda P: 2 - np.abs(P).sum(axis=1))
    assert set_distance(DISC, 0.1, values, GRID) == set_distance(
        DISC, 0.1, lambda P: 2 - np.abs(P).sum(axis=1)
    )
    assert set_distance(DISC, 0.1, values > 0, GRID) != set_distance(DISC, 0.1, values, GRID)


# Hostile input


@pytest.mark.parametrize(
    "axis", [[0.0], [1.0, 0.0], [0.0, 1.0, 3.0], [0.0, np.nan], [[0.0, 1.0]], [0.0, np.inf]]
)
def test_hostile_axes(axis):
    with pytest.raises(
        ValueError, match=r"y must be an ascending, equally spaced axis .*: use numpy\.linspace"
    ):
        Grid([0.0, 1.0], axis)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (np.zeros((3, 3)), r"shape \(N, 2\), got shape \(3, 3\)"),
        (np.zeros((0, 2)), r"got shape \(0, 2\)"),
        ([[0.0, 1.0], [np.nan, 2.0]], "1 values not finite"),
        ([[0.0, 1.0], [0.0, 2.0]], r"extents \[0\. 1\.\]: choose"),
        (GaussianMixture([1.0], [[0.0] * 3], [np.eye(3)]), "got a density with d = 3"),
    ],
)
def test_hostile_targets(target, message):
    with pytest.raises(ValueError, match=message):
        Grid.covering(target)


def test_hostile_resolution():
    with pytest.raises(ValueError, match="at least 2 cells a side, got 1"):
        Grid.covering(DISC, 1)


@pytest.mark.parametrize("curves", [contour_lines, filled_region])
def test_hostile_fields(curves):
    values = GRID.evaluate(DISC.pdf)
    with pytest.raises(ValueError, match=r"grid's shape \(200, 200\), got \(40000,\): rows are y"):
        curves(GRID, values.ravel(), 0.1)
    with pytest.raises(ValueError, match="level must be a number, got nan"):
        curves(GRID, values, np.nan)
    for bad in (np.nan, np.inf):
        values[3, 4] = bad
        with pytest.raises(ValueError, match=f"finite, got {bad}: clip or replace"):
            curves(GRID, values, 0.1)


def test_hostile_functions():
    for function in (lambda P: P, lambda P: 1.0, lambda P: P[1:, 0]):
        with pytest.raises(ValueError, match="one value for each of 40000 points, got shape"):
            GRID.evaluate(function)


@pytest.mark.parametrize("alpha", [0, 1, -1, np.nan])
def test_hostile_alpha(alpha):
    with pytest.raises(ValueError, match="alpha must lie strictly between 0 and 1"):
        set_distance(DISC, alpha, lambda P: P[:, 0] < 0)


def test_hostile_regions():
    with pytest.raises(ValueError, match=r"must have the grid's shape \(200, 200\), got \(3, 3\)"):
        set_distance(DISC, 0.1, np.ones((3, 3), dtype=bool))
    with pytest.raises(ValueError, match="values must be finite, got nan"):
        set_distance(DISC, 0.1, lambda P: np.full(len(P), np.nan))
    with pytest.raises(ValueError, match="got a density with d = 3: d must be 2"):
        set_distance(GaussianMixture([1.0], [[0.0] * 3], [np.eye(3)]), 0.1, lambda P: P[:, 0] > 0)


def test_grid_that_misses_or_misjudges_the_mass():
    for grid in (Grid([0.0, 0.1], [0.0, 0.1]), Grid([-50.0, 0.0, 50.0], [-50.0, 0.0, 50.0])):
        with pytest.raises(
            ValueError, match=r"carry mass .* instead of 1: use a grid that is wider, or finer"
        ):
            set_distance(DISC, 0.1, lambda P: P[:, 0] > 0, grid)


def test_true_sets_know_false_alarm_rates_of_many_thresholds():
    truth = TrueSets(FIG1)
    rng = np.random.default_rng(0)
    values = rng.normal(size=truth.grid.shape)
    thresholds = np.array([-9.0, -1.0, 0.0, values[3, 4], 9.0])
    slow = [truth.mass[values < t].sum() / truth.mass.sum() for t in thresholds]
    np.testing.assert_allclose(truth.false_alarm_rate(values, thresholds), slow, atol=1e-12)
    alphas = np.array([0.05, 0.3, 0.9])
    levels = np.log([FIG1.level(a) for a in alphas])
    np.testing.assert_allclose(truth.false_alarm_rate(truth.log_f, levels), alphas, atol=3e-3)


def test_true_sets_answer_as_set_distance_does():
    truth = TrueSets(FIG1)
    margin = truth.log_f - np.log(FIG1.level(0.2))
    for alpha in (0.1, 0.2, 0.1):  # the third from memory
        assert truth.distance(alpha, margin) == set_distance(FIG1, alpha, margin)
    assert truth.distance(0.2, margin).symmetric_difference_mass == 0


def test_true_boundary_is_where_p_is_alpha():
    points = np.concatenate(TrueSets(FIG1).boundary(0.25))
    np.testing.assert_allclose(FIG1.p_value(points), 0.25, atol=2e-3)


def test_true_sets_refuse_what_is_no_score_or_level():
    truth = TrueSets(FIG1)
    with pytest.raises(ValueError, match="finite, got nan"):
        truth.false_alarm_rate(np.full(truth.grid.shape, np.nan), [0.0])
    with pytest.raises(ValueError, match="the grid's shape"):
        truth.false_alarm_rate(np.zeros((3, 3)), [0.0])
    with pytest.raises(ValueError, match="thresholds must be numbers"):
        truth.false_alarm_rate(truth.log_f, [np.nan])
    for alpha in (0, 1, 2):
        with pytest.raises(ValueError, match="strictly between 0 and 1"):
            truth.boundary(alpha)
