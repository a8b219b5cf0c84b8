#pragma once

void launch_odd(int* p);
