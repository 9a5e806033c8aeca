import pytest

from mute.languages import base_language, is_chinese, writes_spaces


@pytest.mark.parametrize("code", ["de", "DE", "de-AT", "de_DE", "deu", "deu_Latn", "ger"])
def test_a_language_is_known_however_it_is_coded(code: str) -> None:
    assert base_language(code) == "de"


def test_a_language_that_moses_knows_is_known_to_it_by_three_letters() -> None:
    assert [base_language(code) for code in ("hin_Deva", "est", "ben")] == ["hi", "et", "bn"]


@pytest.mark.parametrize("code", ["zh", "zh-TW", "zho_Hans", "cmn", "chi"])
def test_chinese_has_several_codes(code: str) -> None:
    assert is_chinese(code)


@pytest.mark.parametrize("code", ["ja", "zha"])  # the second is Zhuang
def test_other_languages_are_not_chinese(code: str) -> None:
    assert not is_chinese(code)


@pytest.mark.parametrize(
    "code", ["ja", "JA", "jpn_Jpan", "th", "khm", "lo-LA", "mya", "yue", "wuu"]
)
def test_some_languages_write_no_spaces(code: str) -> None:
    assert not writes_spaces(code)


@pytest.mark.parametrize("code", ["en", "ko", "vi_VN", "jv", "jav"])
def test_most_languages_write_spaces(code: str) -> None:
    assert writes_spaces(code)
