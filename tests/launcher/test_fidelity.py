import pytest

from launcher.fidelity import Fidelity, derive


def test_the_papers_first_scenario_is_all_simulated():
    found = derive(virtual_vehicles=3, told_by_core=True, has_behaviours=True)
    assert str(found) == "1/1/1/1/0 = 4"


def test_the_papers_traffic_wave_is_six():
    overrides = {"vehicle": 3, "sensors": 0, "algorithms": 0, "environment": 3}  # the virtual ones did not interact
    found = derive(real_vehicles=4, virtual_vehicles=4, has_behaviours=True, overrides=overrides)
    assert str(found) == "3/0/0/3/0 = 6"


def test_the_papers_evacuation_is_twelve():
    found = derive(real_vehicles=2, real_pedestrians=2, overrides={"sensors": 3})
    assert str(found) == "3/3/0/3/3 = 12"
    assert found.total == 12


@pytest.mark.parametrize(("virtual", "real", "rating"), [(0, 0, 0), (2, 0, 1), (2, 1, 2), (0, 1, 3)])
def test_vehicles_and_pedestrians_are_rated_by_who_is_real(virtual, real, rating):
    assert derive(virtual_vehicles=virtual, real_vehicles=real).vehicle == rating
    assert derive(virtual_pedestrians=virtual, real_pedestrians=real).pedestrians == rating


def test_the_environment_is_mixed_when_anybody_is_real_and_anybody_is_not():
    assert derive(virtual_vehicles=1, real_pedestrians=1) == Fidelity(1, 0, 0, 2, 3)


def test_behaviours_of_nobody_do_not_count():
    assert derive(real_vehicles=1, told_by_core=True, has_behaviours=True) == Fidelity(3, 0, 0, 3, 0)
