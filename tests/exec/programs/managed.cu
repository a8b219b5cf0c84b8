// Managed allocations and a __managed__ variable, shared by host and device: a list whose nodes the
// host links.
#include "check.h"

struct Node {
  int value;
  Node* next;
};

__managed__ int total;

__global__ void add_up(const Node* list) {
  for (; list != nullptr; list = list->next) total += list->value;
}

int main() {
  Node* head = nullptr;
  for (int i = 1; i <= 10; ++i) {
    Node* node;
    CUDA(cudaMallocManaged(&node, sizeof(Node)));
    node->value = i;
    node->next = head;
    head = node;
  }
  total = 100;
  add_up<<<1, 1>>>(head);
  CUDA(cudaDeviceSynchronize());
  EXPECT(total == 155);
  while (head != nullptr) {
    Node* next = head->next;
    CUDA(cudaFree(head));
    head = next;
  }
  std::printf("PASSED\n");
}
